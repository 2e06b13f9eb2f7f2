"""What judges a clustering: compared with another, with all of an ensemble, with known labels, or on the data."""

from consilience.measures.chance import adjusted_mutual_information
from consilience.measures.compactness import compactness
from consilience.measures.compare import Comparison, compare
from consilience.measures.compare_labelings import compare_labelings
from consilience.measures.counts import contingency
from consilience.measures.distinguishing_columns import distinguishing_features
from consilience.measures.element_centric_similarity import element_centric, element_consistency
from consilience.measures.information import anmi, information_ratio, nmi, perplexity, variation_of_information
from consilience.measures.matching import accuracy, f1, matched_accuracy
from consilience.measures.pairs import adjusted_rand, cluster_difference, jaccard, rand
from consilience.measures.pairwise import Stability, pairwise, stability
from consilience.measures.registry import MEASURES, Measure

__all__ = [
    "MEASURES",
    "Comparison",
    "Measure",
    "Stability",
    "accuracy",
    "adjusted_mutual_information",
    "adjusted_rand",
    "anmi",
    "cluster_difference",
    "compactness",
    "compare",
    "compare_labelings",
    "contingency",
    "distinguishing_features",
    "element_centric",
    "element_consistency",
    "f1",
    "information_ratio",
    "jaccard",
    "matched_accuracy",
    "nmi",
    "pairwise",
    "perplexity",
    "rand",
    "stability",
    "variation_of_information",
]
