"""Every metric with settings that make it run in milliseconds."""

from keras_vaezoo import metrics

QUICK = {"train_votes": 300, "eval_votes": 150}


def quick_dci(codes, factors, **settings):
    return metrics.dci(codes, factors, n_estimators=3, max_rows=600, **settings)


def sap_r2(codes, factors):
    return metrics.sap(codes, factors, estimator="r2")


def quick_factor_vae(codes, factors, **settings):
    return metrics.factor_vae_score(codes, factors, **QUICK, **settings)


def quick_beta_vae(codes, factors, **settings):
    return metrics.beta_vae_score(codes, factors, train_points=300, eval_points=150, **settings)


BINNED = [metrics.mig, metrics.modularity, metrics.jemmig]
DISCRETE = [*BINNED, metrics.explicitness, metrics.sap, quick_dci, quick_factor_vae, quick_beta_vae]
ALL = [*DISCRETE, sap_r2]
NEED_TWO_FACTORS = [metrics.modularity, quick_factor_vae, quick_beta_vae]


def numbers(result):
    return list(result) if isinstance(result, tuple) else [result]
