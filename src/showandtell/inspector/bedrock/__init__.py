"""The inspector as a server of the Converse API of Amazon Bedrock."""
