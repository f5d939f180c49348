# Imports a manually created service: here by exact name; use the UUID if names are not unique.
# If the definition matches the service, the first apply changes nothing.

terraform {
  required_version = ">= 1.11"
  required_providers {
    pharos = {
      source = "pharos/pharos"
    }
  }
}

import {
  to = pharos_service.legacy
  id = "name=legacy api"
}

resource "pharos_service" "legacy" {
  name     = "legacy api"
  interval = "1m"
  regions  = ["eu-central-1"]

  endpoints = [
    {
      url  = "https://api.example.com/v0/ping"
      http = { method = "GET" }
      assertions = [
        { status_code = { eq = 200 } },
      ]
    },
  ]
}
