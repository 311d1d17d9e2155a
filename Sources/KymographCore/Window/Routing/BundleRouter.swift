/// Decides which sinks get the Observation of a window.
package struct BundleRouter: Sendable {
    private let filters: [SinkFilter]
    private(set) var types: [MeasurementType]
    private(set) var templates: [FHIRTemplate?]
    private var tags: [[String]] = []
    /// By series, what its type, device and tags allow.
    private var allowed: [BundleRoute?] = []

    /// Routes by `filters`, one per sink, at most ``BundleRoute/mostSinks``; nil when nothing is to be decided.
    /// `templates` has one element per type.
    package init?(_ filters: [SinkFilter], types: [MeasurementType], templates: [FHIRTemplate?]) {
        guard filters.contains(where: { !$0.isOpen }) else { return nil }
        precondition(filters.count <= BundleRoute.mostSinks)
        self.filters = filters
        (self.types, self.templates) = ([], [])
        adopt(types: types, templates: templates)
    }

    /// Whether the windows of one series may go to different sinks.
    var isDecidedByReadings: Bool { filters.contains { $0.takesObservations && $0.sources != nil } }

    /// Follows newer mappings.
    mutating func adopt(types: [MeasurementType], templates: [FHIRTemplate?]) {
        (self.types, self.templates) = (types, templates)
        tags = templates.map { $0?.tagNames ?? [] }
        allowed = []
    }

    /// The sinks that get the Observation of `content`, which belongs to the machine's series `number`.
    mutating func route(of content: borrowing WindowContent, series number: Int) -> BundleRoute {
        let allowed = allowed(content.series, number)
        var route = BundleRoute.none
        for (sink, filter) in filters.enumerated()
        where allowed.contains(sink) && filter.matchesSources(of: content) {
            route.insert(sink)
        }
        return route
    }

    private mutating func allowed(_ series: SeriesIdentity, _ number: Int) -> BundleRoute {
        while allowed.count <= number { allowed.append(nil) }
        if let known = allowed[number] { return known }
        var route = BundleRoute.none
        for (sink, filter) in filters.enumerated()
        where filter.takesObservations
            && filter.mayMatch(type: types[series.type].name, tags: tags[series.type], device: series.device)
        {
            route.insert(sink)
        }
        allowed[number] = route
        return route
    }
}
