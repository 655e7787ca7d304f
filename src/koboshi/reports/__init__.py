"""Reports: journals → what each agent did in some hours, as a value, in words and as a page."""
