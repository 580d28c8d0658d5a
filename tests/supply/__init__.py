"""The supply chain: bill of materials (`make sbom`), known vulnerabilities (`make audit`), releases."""
