"""What a program needs to know of predictions before it loads the model, which takes most of a second."""

import os

__all__ = ["NOT_ALONE", "Unpredicted", "prediction_wanted"]

#: why a launch beside another one has no prediction
NOT_ALONE = "another kernel ran at the same time"


class Unpredicted(Exception):
    """A launch that the model does not cover; the text says why."""


def prediction_wanted() -> bool:
    """Whether $SLUICE_PREDICT_RUN asks for predictions beside what is measured."""
    return os.environ.get("SLUICE_PREDICT_RUN") == "1"
