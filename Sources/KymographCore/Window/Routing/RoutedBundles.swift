/// The bundles that a shard is filling: one for all sinks, or, where sinks have filters, one for each set of sinks.
struct RoutedBundles: ~Copyable {
    private final class Bundle {
        let route: BundleRoute
        var writer: BundleWriter

        init(_ route: BundleRoute, _ writer: consuming BundleWriter) {
            self.route = route
            self.writer = writer
        }
    }

    /// Where the Observation of a window belongs.
    enum Place: Equatable {
        /// In the bundle of this number.
        case bundle(Int)
        /// Nowhere before all bundles have ended: another one has the series, and its sinks must get that first.
        case afterOthers
        /// No sink wants it.
        case nowhere
    }

    private var bundles: [Bundle]
    private var router: BundleRouter?
    /// The bundles of series whose readings decide who gets them.
    private var places: [Int: Int] = [:]

    init(_ writer: consuming BundleWriter, router: BundleRouter?) {
        bundles = [Bundle(.all, writer)]
        self.router = router
    }

    /// Writes with newer templates from here on; what is in bundles stays as it is. Where there are filters, all must
    /// have ended: a series may go elsewhere by the new templates.
    mutating func adopt(types: [MeasurementType], templates: [FHIRTemplate?]) {
        for bundle in bundles { bundle.writer.adopt(types: types, templates: templates) }
        router?.adopt(types: types, templates: templates)
    }

    /// Where `content` belongs, which is of the machine's series `number`.
    @inline(__always)
    mutating func place(of content: borrowing WindowContent, series number: Int) -> Place {
        router == nil ? .bundle(0) : routedPlace(of: content, series: number)
    }

    private mutating func routedPlace(of content: borrowing WindowContent, series number: Int) -> Place {
        guard let route = router?.route(of: content, series: number) else { return .bundle(0) }
        if route == .none { return .nowhere }
        let place = place(of: route)
        guard router?.isDecidedByReadings == true else { return .bundle(place) }
        if let other = places[number], other != place { return .afterOthers }
        places[number] = place
        return .bundle(place)
    }

    private mutating func place(of route: BundleRoute) -> Int {
        if let place = bundles.firstIndex(where: { $0.route == route }) { return place }
        let (types, templates) = (router?.types ?? [], router?.templates ?? [])
        bundles.append(Bundle(route, bundles[0].writer.another(types: types, templates: templates)))
        return bundles.count - 1
    }

    /// Adds `content` to the bundle at `place`.
    @inline(__always)
    func add(_ content: borrowing WindowContent, at place: Int) -> BundleWriter.AddOutcome {
        bundles[place].writer.add(content)
    }

    /// What the Observation of the last addition at `place` does not say of its readings.
    @inline(__always)
    func losses(at place: Int) -> ObservationLosses { bundles[place].writer.losses }

    /// Who gets the bundle at `place`.
    @inline(__always)
    func route(at place: Int) -> BundleRoute { bundles[place].route }

    /// Observations and other resources in the bundle at `place`.
    @inline(__always)
    func contentCount(at place: Int) -> Int { bundles[place].writer.contentCount }

    /// Whether a resource that is no Observation was added at `place` since the last time of asking.
    @inline(__always)
    func takeResource(at place: Int) -> Bool { bundles[place].writer.takeResource() }

    /// Whether sinks have filters.
    var isRouted: Bool { router != nil }

    /// Whether any bundle has content.
    var isOpen: Bool { bundles.contains { $0.writer.contentCount > 0 } }

    /// Ends all bundles, gives each that has content to `body`, and begins new ones. They end together, because a
    /// window may be archived only when it is in no unfinished bundle.
    mutating func finish(_ body: (BundleRoute, ByteView) -> Void) {
        places.removeAll(keepingCapacity: true)
        for bundle in bundles {
            let bytes = bundle.writer.finish()
            if bytes.count > 0 { body(bundle.route, bytes) }
            bundle.writer.reset()
        }
    }
}
