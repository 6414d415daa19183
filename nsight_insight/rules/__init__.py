"""The rule engine: schema, expressions, loading, evaluation, savings, self-test."""
