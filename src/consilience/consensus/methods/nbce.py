"""NBCE: a Dirichlet-process mixture of the label rows, which finds the number of clusters itself.

Every cluster gives the labels of each clustering probabilities of its own, and the number of clusters is as open as the truncation allows
(P. Wang, C. Domeniconi and K. B. Laskey, Nonparametric Bayesian clustering ensembles, ECML 2010; the formulas, with its
misprints mended, are in :mod:`consilience.consensus.bayes`).

**What it finds** are groups whose rows of labels are alike. Where the clusterings are noisy copies of one grouping, that is this grouping.
Where they repeat each other, as runs of k-means do, every cell of their overlay would be a group if they were taken for independent
witnesses; so the likelihood counts to a power that follows from their dependence (:mod:`consilience.consensus.bayes.variational`), and
the answer is as fine as the clusterings have independent things to say. `n_clusters` merges it down to a number you want.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from consilience._check import InputError, check_choice, check_count, check_positive, check_seed, check_share
from consilience._kernels import PRIORS
from consilience._types import Floats, Ints, Labels
from consilience.consensus.bayes.gibbs_chains import INITS, convergence_table, sample_posterior, summarize, trace_table
from consilience.consensus.bayes.model import mean_log_joint
from consilience.consensus.bayes.variational import KINDS, Method, answer_of, fit_bound, likelihood_power
from consilience.consensus.methods.estimator import CHECKS, Answer
from consilience.consensus.methods.label_model import LabelModel
from consilience.consensus.rows.problem import Problem, by_size
from consilience.consensus.samples.expected_loss import LOSSES
from consilience.ensemble import Ensemble

INFERENCE = ("gibbs", *KINDS)
SWEEPS = 50, 400  # of a chain by default, at least and at most
MODEL = ("prior", "n_components", "alpha", "beta")


def usual_effort(n_objects: float, fewest: int, most: int, enough: int = 25_000) -> int:
    """Sweeps, or moves after each, where none are asked for: `most` up to `enough` objects, and then in inverse proportion."""
    return int(np.clip(most * enough / n_objects, fewest, most))


@dataclass(eq=False, repr=False, kw_only=True)
class NBCE(LabelModel):
    """Bayesian consensus with an open number of clusters.

    Parameters
    ----------
    n_clusters : int, optional
        None takes what the model finds; a number is the most clusters that the answer may have (variational: clusters
        merge, along the loss, until no more are left).
    prior : {"tsb", "fsd"}
        Of the cluster sizes: truncated stick-breaking, or a finite symmetric Dirichlet.
    inference : {"gibbs", "vb", "cvb", "cvb2"}
        Collapsed Gibbs sampling; variational Bayes; collapsed variational Bayes of first or second order.
    n_components : int
        Truncation: the most clusters there can be.
    alpha, beta : float, optional
        Concentration of the cluster sizes (larger: more clusters) and of the labels within a cluster (larger: less pure);
        estimated by default.
    power : float or "auto"
        To which the likelihood of each clustering counts, above 0 and at most 1: 1 takes the clusterings as independent given the
        clusters, 1/r all of them together as one; "auto" estimates how far they repeat each other.
    loss : {"vi", "binder"}
        What the answer minimizes over the samples (and merging follows): the expected variation of information, or Binder's loss.
    init : {"both", "consensus", "random"}
        Where chains begin: at a quick consensus, with every object in a random cluster, or in turn.
    n_chains : int
    n_moves : int, optional
        Gibbs: split–merge moves after every sweep over the objects, without which chains stay where they begin for long; by default
        30, and fewer beyond 25,000 objects, but at least 2.
    max_iter : int, optional
        Gibbs: sweeps of every chain, of which the second half counts; by default 400, and fewer beyond 25,000 objects, but at
        least 50. Variational: passes at most; 500 by default.
    n_samples : int
        Samples kept, of all chains together.
    n_init : int
        Starts of variational inference.
    tol : float
        Variational inference stops when the expected tables of labels × clusters change by less than this share of their sum.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        Gibbs: of the objects that share an object's cluster in a sample, the share that the answer has in each cluster, mean over
        samples. Variational: the probability of each cluster. An object without labels has the clusters' shares.
    outliers_ : int array
        Objects that are a cluster of their own.
    alpha_, beta_ : float
        Posterior means, or estimates.
    power_ : float
        As given or estimated; times the number of clusterings, how many independent ones they are worth.
    components_ : list of Components
        Of every sample, or of the bound: what predictions are made from.
    expected_loss_ : float
        Gibbs: of `labels_`.
    n_clusters_posterior_ : Series
        Gibbs: the probability of every number of clusters.
    samples_ : Ensemble
        Gibbs: the clusters of the objects in every sample; objects with the same labels are where most of them are.
    n_singletons_ : int array
        Gibbs: clusters of one in every sample.
    trace_, convergence_ : DataFrame
        Gibbs: log joint, number of clusters, α and β after every sweep; R-hat and effective sample size of the first two.
    chains_left_out_ : int array
        Gibbs: chains that stayed below the others' log joint, and were left out of the answer.
    history_ : list of float
        Variational: the bound after every pass. It never falls in "vb"; in "cvb" and "cvb2" it is an approximation.
    converged_ : bool
        Variational.
    n_iter_ : int

    Notes
    -----
    A Gibbs sweep costs O(n · r · clusters), a move O(r · objects of two clusters), a variational pass O(rows · r · n_components). Sampling
    needs whole sample weights. `predict` counts labels to the same power as fitting; `score` and `perplexity` are of the labels
    themselves.

    Examples
    --------
    >>> from consilience.consensus import NBCE
    >>> labels = [[0] * 8 + [1] * 8 + [2] * 8, [1] * 8 + [0] * 8 + [2] * 8, [2] * 8 + [1] * 8 + [0] * 8]
    >>> model = NBCE(random_state=0).fit(labels)
    >>> model.n_clusters_, model.labels_[[0, 8, 16]].tolist()
    (3, [0, 1, 2])
    >>> model.predict([[0], [1], [-1]]).tolist()
    [0]
    """

    _checks = {name: check for name, check in CHECKS.items() if name not in ("max_iter", "tol")}  # noqa: RUF012  (more is asked here)

    prior: str = "tsb"
    inference: str = "gibbs"
    n_components: int = 100
    alpha: float | None = None
    beta: float | None = None
    power: float | str = "auto"
    loss: str = "vi"
    init: str = "both"
    n_chains: int = 4
    n_moves: int | None = None
    max_iter: int | None = None
    n_samples: int = 100
    n_init: int = 5
    tol: float = 1e-6
    n_jobs: int | None = None

    def _combine(self, problem: Problem) -> Answer:
        self._check()
        self._power = self._find_power(problem)
        answer = self._gibbs(problem) if self.inference == "gibbs" else self._variational(problem)
        numbers, self._offsets = problem.labels_as_given()
        answer.extras["components"] = [replace(part, table=part.table[numbers]) for part in answer.extras["components"]]
        self._order = by_size(answer.labels, problem.weights, int(answer.labels.max()) + 1, problem.first)
        return answer

    def _check(self) -> None:
        check_choice(self.prior, PRIORS, "prior")
        check_choice(self.inference, INFERENCE, "inference")
        check_choice(self.loss, LOSSES, "loss")
        check_choice(self.init, INITS, "init")
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter, 2 if self.inference == "gibbs" else 1)
        check_positive("tol", self.tol)
        if self.n_moves is not None:
            check_count("n_moves", self.n_moves, 0)
        if self.power != "auto":
            check_share("power", self.power)

    def _find_power(self, problem: Problem) -> float:
        if self.power == "auto":
            return likelihood_power(problem, seed=check_seed(self.random_state), n_jobs=self.n_jobs)
        return float(self.power)

    def _options(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def _gibbs(self, problem: Problem) -> Answer:
        objects, seed = float(problem.weights.sum()), check_seed(self.random_state)
        max_iter = self.max_iter or usual_effort(objects, *SWEEPS)
        n_moves = usual_effort(objects, 2, 30) if self.n_moves is None else self.n_moves
        posterior = sample_posterior(
            problem,
            self._options(*MODEL) | {"power": self._power, "n_moves": n_moves},
            max_iter=max_iter,
            seed=seed,
            progress=getattr(self, "_progress", False),  # a bar while sampling; functions set it
            **self._options("init", "n_chains", "n_samples", "n_jobs"),
        )
        labels, membership, components, loss, drawn = summarize(
            posterior, self.prior, loss=self.loss, n_clusters=self.n_clusters, seed=seed, n_jobs=self.n_jobs
        )
        samples = posterior.samples
        counts = pd.Series([np.count_nonzero(sample.sizes) for sample in samples])
        shares = counts.value_counts(normalize=True).sort_index()
        extras = {
            "components": components,
            "power": self._power,
            "alpha": float(np.mean([sample.alpha for sample in samples])),
            "beta": float(np.mean([sample.beta for sample in samples])),
            "expected_loss": loss,
            "n_clusters_posterior": shares.rename_axis("n_clusters").rename("probability"),
            "samples": np.column_stack(drawn),
            "n_singletons": np.array([np.count_nonzero(sample.sizes == 1) for sample in samples]),
            "trace": trace_table(posterior.chains),
            "convergence": convergence_table(posterior.chains),
            "chains_left_out": np.flatnonzero(~posterior.arrived),
            "n_iter": max_iter,
        }
        return Answer(labels, membership, extras)

    def _bound(self, power: float) -> tuple[Method, dict[str, Any]]:
        how = self._options("init", "n_init", "n_jobs") | {"seed": check_seed(self.random_state)}
        return Method(self.inference, **self._options(*MODEL, "tol"), power=power, max_iter=self.max_iter or 500), how

    def _variational(self, problem: Problem) -> Answer:
        method, how = self._bound(self._power)
        fit = fit_bound(problem, method, **how)
        labels, membership, components = answer_of(fit, loss=self.loss, n_clusters=self.n_clusters)
        extras = {"components": [components], "power": self._power, "alpha": fit.state.alpha, "beta": fit.state.beta}
        extras |= {"history": fit.history, "converged": fit.converged, "n_iter": len(fit.history) - 1}
        return Answer(labels, membership, extras)

    def _fit(self, ens: Ensemble, problem: Problem) -> Any:
        super()._fit(ens, problem)
        sizes = np.bincount(self.labels_[problem.first], problem.n_objects_of_rows)
        if self.inference == "gibbs":
            drawn = problem.to_objects(vars(self)["samples_"], -1)
            self.samples_: Ensemble = Ensemble.from_codes(drawn, ids=ens.ids)
        self.outliers_: Ints = np.flatnonzero((self.labels_ >= 0) & (sizes[self.labels_] == 1))
        return self

    def modes(self, modes: int | str = "auto", loss: str = "vi") -> Any:
        """A few partitions that stand for the posterior, with weights: :func:`consilience.summarize` of `samples_` with `modes`."""
        from consilience.consensus.samples.modes import find_modes  # it needs consensus methods, of which this is one

        if self.inference != "gibbs":
            raise InputError("modes are of samples of the posterior, which inference='gibbs' draws: fit with it")
        seed = check_seed(self.random_state)
        return find_modes(self.samples_, modes, check_choice(loss, LOSSES, "loss"), 1.0, None, seed, self.n_jobs)

    def _log_joint(self, rows: Labels) -> Floats:
        joint = mean_log_joint(self.components_, rows, self._offsets, self.power_)
        return np.asarray(joint[:, np.append(self._order, joint.shape[1] - 1)])

    def _log_rows(self, rows: Labels) -> Floats:
        return np.asarray(logsumexp(mean_log_joint(self.components_, rows, self._offsets), axis=1))
