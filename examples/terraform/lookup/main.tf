# Looks up existing services by pattern, and creates a service in every region of a continent.

terraform {
  required_version = ">= 1.11"
  required_providers {
    pharos = {
      source = "pharos/pharos"
    }
  }
}

# Reads PHAROS_URL and PHAROS_API_KEY from the environment.
provider "pharos" {}

data "pharos_org" "mine" {}

data "pharos_regions" "all" {}

data "pharos_services" "legacy" {
  name_regex = "^legacy "
}

resource "pharos_service" "europe" {
  name      = "seen from Europe"
  interval  = "5m"
  regions   = [for code in data.pharos_regions.all.codes : code if startswith(code, "eu-")]
  endpoints = [{ url = "https://www.example.com/", http = { method = "GET" } }]
}

output "organisation" {
  description = "Name of the organisation that the API key belongs to."
  value       = data.pharos_org.mine.name
}

output "legacy" {
  description = "UUIDs of the services that are still to be migrated, by name."
  value       = { for service in data.pharos_services.legacy.services : service.name => service.id }
}
