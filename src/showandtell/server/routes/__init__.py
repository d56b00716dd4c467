"""The routes of the API: what each takes and answers."""
