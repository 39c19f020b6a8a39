# SPDX-License-Identifier: Apache-2.0
"""Reads URL/metrics with KEY, as Prometheus' own library understands it, and prints the samples."""
import json
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

url, key = sys.argv[1:]
request = urllib.request.Request(url + "/metrics", headers={"Authorization": "Bearer " + key})
with urllib.request.urlopen(request, timeout=30) as answer:
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    text = answer.read().decode()
types, samples = {}, {}
for family in text_string_to_metric_families(text):
    types[family.name] = family.type
    for sample in family.samples:
        labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
        name = sample.name + (f"{{{labels}}}" if labels else "")
        assert name not in samples, name
        samples[name] = sample.value
print(json.dumps({"types": types, "samples": samples}))
