"""Clusterers that raise, hang or crash, in processes of their own as well."""

import os
import signal
import time

from sklearn.cluster import KMeans


class Moody(KMeans):
    """K-means that every fourth time, by its seed, does what `mood` says; as long as the file `until` is not there."""

    def __init__(self, n_clusters=3, mood="raise", until="", random_state=0):
        super().__init__(n_clusters, n_init=1, random_state=random_state)
        self.mood, self.until = mood, until

    def fit_predict(self, X, y=None):
        if self.random_state % 4 == 0 and not (self.until and os.path.exists(self.until)):
            if self.mood == "raise":
                raise FloatingPointError("the moon is in the wrong house")
            if self.mood == "hang":
                time.sleep(3600)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit_predict(X)
