/// Which series are of one device, correlation id and name of a type: a reading of one may have been filed in another,
/// for another patient or encounter. Nothing is known of them where no device is guarded.
struct SeriesSiblings: ~Copyable {
    /// Readings of a window in the archive, of the last one that was looked at.
    struct Filed {
        var series: Int
        var start: Instant
        /// In the order of time.
        var instants: [Instant]
        /// What their senders call them.
        var ids: Set<[UInt8]>
    }

    /// What is known of a series.
    private struct Link: BitwiseCopyable {
        /// The next of its siblings; itself when it is alone.
        var next: UInt32
        /// The first type that is called like its own: those that differ in their period alone are one.
        var kind: UInt32
        /// Whether its readings may not be in another one, too.
        var isGuarded = false
        /// Whether that holds for one of its siblings, or itself.
        var isAmongGuarded = false
    }

    private let guarding: (any DeviceGuard)?
    private var generation = 0
    private var links: [Link] = []
    /// The first series of those that are siblings.
    private var groups = NumberIndex()
    /// The window of the archive that was looked at last.
    var filed: Filed?

    /// Knows of siblings if `guarding` guards devices.
    init(_ guarding: (any DeviceGuard)?) { self.guarding = guarding }

    /// Whether there is anything to know.
    @inline(__always)
    var isOn: Bool { guarding != nil }

    /// Whether a reading of `series` needs a look at others.
    @inline(__always)
    func hasAny(_ series: Int) -> Bool { isOn && links[series].isAmongGuarded }

    /// The sibling behind `series`; itself when it has none.
    func next(_ series: Int) -> Int { Int(links[series].next) }

    /// Whether a reading of `series` may not be in another one, too.
    func isGuarded(_ series: Int) -> Bool { links[series].isGuarded }

    /// The first sibling of `identity`, whose type is of `kind`; nil when there is none.
    func first(like identity: SeriesIdentity, kind: Int, among identities: [SeriesIdentity]) -> Int? {
        groups.find(hash: SeriesSiblings.hash(identity, kind)) {
            links[$0].kind == kind && identities[$0].device == identity.device
                && identities[$0].correlation == identity.correlation
        }
    }

    /// Notes series `number`, the last of `identities`, whose type is of `kind`.
    mutating func append(_ number: Int, kind: Int, among identities: [SeriesIdentity]) {
        precondition(number == links.count)
        let identity = identities[number]
        let first = first(like: identity, kind: kind, among: identities)
        links.append(Link(next: UInt32(number), kind: UInt32(kind), isGuarded: guards(identity)))
        guard let first else {
            return groups.insert(number) { [links] in
                SeriesSiblings.hash(identities[$0], Int(links[$0].kind))
            }
        }
        (links[number].next, links[first].next) = (links[first].next, UInt32(number))
        settle(number)
    }

    /// Looks again which devices are guarded, if that may have changed; whether it has looked.
    mutating func refresh(_ identities: [SeriesIdentity]) -> Bool {
        guard let guarding, guarding.generation != generation else { return false }
        generation = guarding.generation
        for number in links.indices where !links[number].isGuarded {
            links[number].isGuarded = guards(identities[number])
        }
        for number in links.indices { settle(number) }
        return true
    }

    /// Those of a device that is of one patient at a time, and those of no patient: nobody has said that they are of
    /// one of several.
    private func guards(_ identity: SeriesIdentity) -> Bool {
        identity.patient == nil || guarding?.holds(identity.device) ?? false
    }

    /// Tells `number` and its siblings whether one of them is guarded.
    private mutating func settle(_ number: Int) {
        guard next(number) != number else { return }
        var isAny = links[number].isGuarded
        var sibling = next(number)
        while sibling != number {
            isAny = isAny || links[sibling].isGuarded
            sibling = next(sibling)
        }
        repeat {
            links[sibling].isAmongGuarded = isAny
            sibling = next(sibling)
        } while sibling != number
    }

    private static func hash(_ identity: SeriesIdentity, _ kind: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(kind)
        hasher.combine(identity.device)
        hasher.combine(identity.correlation)
        return hasher.finalize()
    }
}

extension SeriesIdentity {
    /// Whether it is of another patient or encounter than `other`.
    func isOfAnother(than other: SeriesIdentity) -> Bool { patient != other.patient || encounter != other.encounter }
}
