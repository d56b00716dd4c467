"""Keys and base URLs of providers that were given on the page."""
