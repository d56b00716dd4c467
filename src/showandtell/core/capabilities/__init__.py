"""Which files each place of each model accepts, as data with evidence."""
