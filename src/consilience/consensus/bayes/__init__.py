"""What Bayesian consensus is made of: priors, samplers, variational bounds, and one answer from many samples."""
