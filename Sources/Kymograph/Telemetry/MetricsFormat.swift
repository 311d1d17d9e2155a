/// A text format of metrics.
enum MetricsFormat: Sendable {
    /// Prometheus 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.0.
    case openMetrics

    var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// The format for a client with these `Accept` fields: OpenMetrics where it is named, unless with weight 0.
    static func wanted(by accept: [String]) -> MetricsFormat {
        let ranges = accept.flatMap { $0.lowercased().split(separator: ",") }
        let isNamed = ranges.contains { range in
            let parts = range.split(separator: ";").map { part in part.filter { $0 != " " && $0 != "\t" } }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
            return parts.first == "application/openmetrics-text" && weight != 0
        }
        return isNamed ? .openMetrics : .prometheus
    }
}
