"""JSON Schema: faults of a value against a schema, and their wording."""
