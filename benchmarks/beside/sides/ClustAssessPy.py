"""Element-centric similarity of all pairs, and consistency of every element."""

import ClustAssessPy


def element_centric(inputs):
    columns = list(inputs["labels"].T)
    return lambda seed: ClustAssessPy.element_sim_matrix(columns)


def element_consistency(inputs):
    columns = list(inputs["labels"].T)
    return lambda seed: ClustAssessPy.element_consistency(columns)
