module go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp

go 1.26.0

require go.opentelemetry.io/otel/trace v1.44.0

replace go.opentelemetry.io/otel/trace => ../trace
