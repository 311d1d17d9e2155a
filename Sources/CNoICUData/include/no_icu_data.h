// Nothing to call: linking this target is what it is for. See icu_data.c.
