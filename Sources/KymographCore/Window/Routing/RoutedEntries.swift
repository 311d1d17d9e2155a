/// The blocks of entries that a shard is filling: one for every sink, or, where sinks have filters, one for each set of
/// sinks.
struct RoutedEntries: ~Copyable {
    /// A block, and who gets it.
    struct Filling: ~Copyable {
        var route: BundleRoute
        var writer: EntryWriter
    }

    /// What became of a content.
    enum Outcome {
        /// No sink wants it.
        case nowhere
        /// Sinks want it, and rules say that none of them gets it.
        case vetoed
        /// There is nothing to write, and why.
        case skipped(Rejection)
        /// It is in a block for these sinks.
        case added(EntryWriter.Addition, BundleRoute)
    }

    private var blocks = OwnedList<Filling>(count: 0) { _ in preconditionFailure("there are none yet") }
    private var router: BundleRouter?
    /// Who gets what no filter decides.
    private var everyone: BundleRoute
    private var rules: EntryRuleDecider?
    /// Is shown each block that has ended.
    private var watcher: (@Sendable (ByteView) -> Void)?
    /// What blocks are written by, as far as somebody has told.
    private var types: [MeasurementType]
    private var templates: [FHIRTemplate?]
    /// The blocks of series whose readings decide who gets them.
    private var places: [Int: Int] = [:]

    /// Without `router`, each block is for `everyone`.
    init(_ writer: consuming EntryWriter, router: BundleRouter?, everyone: BundleRoute) {
        blocks.append(Filling(route: everyone, writer: writer))
        self.router = router
        self.everyone = everyone
        (types, templates) = (router?.types ?? [], router?.templates ?? [])
    }

    /// Decides by `rules` from here on. All blocks must have ended: what is in them was decided by others.
    mutating func adopt(_ rules: EntryRules, types: [MeasurementType], templates: [FHIRTemplate?]) {
        (self.types, self.templates) = (types, templates)
        watcher = rules.watcher
        self.rules = EntryRuleDecider(rules, types: types, templates: templates)
        // Variants of templates are those of former rules.
        for index in 0..<blocks.count { blocks[index].writer.adopt(types: types, templates: templates) }
    }

    /// How often each rule has decided since the last time; empty when none has.
    mutating func takeRuleCounts() -> [(rule: String, count: Int)] {
        guard let rules, rules.hasCounts else { return [] }
        return rules.takeCounts()
    }

    /// Writes with newer templates from here on; what is in blocks stays as it is. Where there are filters, all must
    /// have ended: a series may go elsewhere by the new templates.
    mutating func adopt(types: [MeasurementType], templates: [FHIRTemplate?]) {
        for index in 0..<blocks.count { blocks[index].writer.adopt(types: types, templates: templates) }
        router?.adopt(types: types, templates: templates)
        rules?.adopt(types: types, templates: templates)
        (self.types, self.templates) = (types, templates)
    }

    /// Decides by `router` from here on, or gives everything to `everyone`. All blocks must have ended.
    mutating func follow(_ router: BundleRouter?, everyone: BundleRoute) {
        (self.router, self.everyone) = (router, everyone)
        blocks[0].route = everyone
        places.removeAll()
        if let router { (types, templates) = (router.types, router.templates) }
    }

    /// Adds `content`, which is of the machine's series `number`, to the block where it belongs. Blocks that have to
    /// end before are given to `ended`.
    @inline(__always)
    mutating func add(
        _ content: borrowing WindowContent, series number: Int, ended: (BundleRoute, ByteView) -> Void
    ) -> Outcome {
        var (place, isKept) = (0, false)
        if let rules {
            switch ruled(content, series: number, by: rules, ended: ended) {
            case .success(let routed): (place, isKept) = (routed.place, routed.isKept)
            case .failure(let reason): return reason == .vetoed ? .vetoed : .nowhere
            }
        } else if router != nil {
            guard let routed = self.place(of: content, series: number, ended: ended) else { return .nowhere }
            place = routed
        }
        switch blocks[place].writer.add(content, isKept: isKept) {
        case .skipped(let reason): return .skipped(reason)
        case .added(let addition):
            if addition.isOverfull { finish(before: content, at: place, series: number, ended: ended) }
            return .added(addition, blocks[place].route)
        }
    }

    /// Why nobody gets a content.
    private enum Absence: Error {
        case unwanted, vetoed
    }

    /// The number of the block that `content` belongs to, which writes it as `rules` say, and whether servers keep it
    /// that delete what was an error.
    @inline(never)
    private mutating func ruled(
        _ content: borrowing WindowContent, series number: Int, by rules: EntryRuleDecider,
        ended: (BundleRoute, ByteView) -> Void
    ) -> Result<(place: Int, isKept: Bool), Absence> {
        var route = router?.route(of: content, series: number) ?? everyone
        guard route != .none else { return .failure(.unwanted) }
        let (types, templates) = (types, templates)
        let hasDocuments = blocks[0].writer.attaches
        let ruling = rules.ruling(on: content, series: number, hasDocuments: hasDocuments) { writer in
            blocks[0].writer.use(PatchSelection(), types: types) { _ in templates }
            return blocks[0].writer.describe(content, into: &writer)
        }
        route.subtract(ruling.vetoed)
        guard !isNowhere(route) else { return .failure(.vetoed) }
        let place = place(of: route, series: number, ended: ended)
        blocks[place].writer.use(ruling.patches, types: types) { rules.patched(templates, by: $0) }
        return .success((place, ruling.isKept))
    }

    /// Whether none of the sinks that there are gets what goes by `route`.
    private func isNowhere(_ route: BundleRoute) -> Bool {
        !(0..<max(rules?.sinkCount ?? 0, 1)).contains { route.contains($0) }
    }

    /// The number of the block that `content` belongs to; nil when no sink wants it.
    private mutating func place(
        of content: borrowing WindowContent, series number: Int, ended: (BundleRoute, ByteView) -> Void
    ) -> Int? {
        guard let route = router?.route(of: content, series: number) else { return 0 }
        if route == .none { return nil }
        return place(of: route, series: number, ended: ended)
    }

    /// Whether what one series shows may go to different sinks.
    private var isDecidedByContent: Bool { rules != nil || router?.isDecidedByReadings == true }

    private mutating func place(
        of route: BundleRoute, series number: Int, ended: (BundleRoute, ByteView) -> Void
    ) -> Int {
        let place = place(of: route)
        guard isDecidedByContent else { return place }
        // Another block has the series, and its sinks must get that first.
        if let other = places[number], other != place { finish(ended) }
        places[number] = place
        return place
    }

    private mutating func place(of route: BundleRoute) -> Int {
        for place in 0..<blocks.count where blocks[place].route == route { return place }
        blocks.append(
            Filling(route: route, writer: blocks[0].writer.another(types: types, templates: templates)))
        return blocks.count - 1
    }

    /// Whether sinks have filters, or rules decide what they get.
    var isRouted: Bool { router != nil || rules != nil }

    /// Whether any block has content.
    var isOpen: Bool { (0..<blocks.count).contains { blocks[$0].writer.contentCount > 0 } }

    /// Ends all blocks, gives each that has content to `ended`, and begins new ones. They end together, because a
    /// window may be archived only when it is in no unfinished block.
    mutating func finish(_ ended: (BundleRoute, ByteView) -> Void) {
        places.removeAll(keepingCapacity: true)
        for index in 0..<blocks.count {
            let bytes = blocks[index].writer.finish()
            if bytes.count > 0 { hand(bytes, blocks[index].route, to: ended) }
            blocks[index].writer.reset()
        }
    }

    private func hand(_ bytes: ByteView, _ route: BundleRoute, to ended: (BundleRoute, ByteView) -> Void) {
        watcher?(bytes)
        ended(route, bytes)
    }

    /// As ``finish(_:)``; the block at `place` ends before `content`, with which its next one begins.
    private mutating func finish(
        before content: borrowing WindowContent, at place: Int, series number: Int,
        ended: (BundleRoute, ByteView) -> Void
    ) {
        places.removeAll(keepingCapacity: true)
        if isDecidedByContent { places[number] = place }
        for index in 0..<blocks.count {
            let isOverfull = index == place
            let bytes = blocks[index].writer.finish(isOverfull: isOverfull)
            if bytes.count > 0 { hand(bytes, blocks[index].route, to: ended) }
            isOverfull ? blocks[index].writer.begin(with: content) : blocks[index].writer.reset()
        }
    }
}
