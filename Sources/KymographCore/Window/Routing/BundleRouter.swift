/// Decides which sinks get the Observation of a window.
package struct BundleRouter: Sendable {
    /// By place; one that lets nothing pass for a place without a sink.
    private let filters: [SinkFilter]
    private(set) var types: [MeasurementType]
    private(set) var templates: [FHIRTemplate?]
    private var tags: [[String]] = []
    /// By series, what its type and device allow, and which sinks want its template's tags.
    private var allowed: [(route: BundleRoute, tagged: BundleRoute)?] = []

    /// Routes by `filters`, one per place and nil where there is no sink, at most ``BundleRoute/mostSinks``; nil when
    /// nothing is to be decided. `templates` has one element per type.
    package init?(_ filters: [SinkFilter?], types: [MeasurementType], templates: [FHIRTemplate?]) {
        guard filters.contains(where: { $0?.isOpen == false }) else { return nil }
        precondition(filters.count <= BundleRoute.mostSinks)
        self.filters = filters.map { $0 ?? .closed }
        (self.types, self.templates) = ([], [])
        adopt(types: types, templates: templates)
    }

    /// Whether the windows of one series may go to different sinks.
    var isDecidedByReadings: Bool {
        filters.contains { $0.takesObservations && ($0.sources != nil || !$0.tags.isEmpty) }
    }

    /// Follows newer mappings.
    mutating func adopt(types: [MeasurementType], templates: [FHIRTemplate?]) {
        (self.types, self.templates) = (types, templates)
        tags = templates.map { $0?.tagNames ?? [] }
        allowed = []
    }

    /// The sinks that get the Observation of `content`, which belongs to the machine's series `number`.
    mutating func route(of content: borrowing WindowContent, series number: Int) -> BundleRoute {
        let (allowed, tagged) = allowed(content.series, number)
        var route = BundleRoute.none
        for (sink, filter) in filters.enumerated()
        where allowed.contains(sink) && (tagged.contains(sink) || filter.matchesTags(of: content))
            && filter.matchesSources(of: content)
        {
            route.insert(sink)
        }
        return route
    }

    private mutating func allowed(
        _ series: SeriesIdentity, _ number: Int
    ) -> (route: BundleRoute, tagged: BundleRoute) {
        while allowed.count <= number { allowed.append(nil) }
        if let known = allowed[number] { return known }
        var (route, tagged) = (BundleRoute.none, BundleRoute.none)
        for (sink, filter) in filters.enumerated()
        where filter.takesObservations && filter.mayMatch(type: types[series.type].name, device: series.device) {
            route.insert(sink)
            if filter.matches(tags: tags[series.type]) { tagged.insert(sink) }
        }
        allowed[number] = (route, tagged)
        return (route, tagged)
    }
}
