"""What every request passes before its route: the gate, how often one may ask, how long a body may be."""
