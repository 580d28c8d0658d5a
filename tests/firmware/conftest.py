"""No deadlines for single examples: a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("homologue", deadline=None)
settings.load_profile("homologue")
