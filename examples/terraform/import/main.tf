# Takes over a service that somebody made by hand: by its exact name here, by its UUID where names are not unique.
# The first apply changes nothing if the definition is what the service is.

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
