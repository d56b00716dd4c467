"""Show & Tell: any tool returns files beside text and JSON, and every model really sees them."""
