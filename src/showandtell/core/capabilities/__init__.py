"""What each place of each model takes, as data with evidence."""
