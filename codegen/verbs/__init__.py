"""The verbs of the command line as functions: one file per verb, frozen records in return, nothing printed."""
