/// What a group has as the position of a partition, as far as this instance knows, and was told of it.
struct GroupTelling {
    /// What the group's position, as brokers say it, means.
    enum Finding: Equatable {
        /// Nothing that was not known.
        case known
        /// Somebody else has told it.
        case foreign
        /// Nobody else has told any for a while: positions may be told again.
        case released
    }

    /// How long nobody else has to tell positions before this instance does so again.
    static let patience = Duration.seconds(600)

    /// The position that the group was last told, and has not refused; nil when it has none, or another.
    private var told: Int64?
    /// The group has this one, or a later one that it was told, unless somebody else has told another.
    private(set) var least: Int64
    /// Whether it has exactly that.
    private var isSure: Bool
    /// Whether somebody else has told positions, and the group has taken none of this instance since.
    private(set) var isContested: Bool
    /// What somebody else has told, and since when; while there is that, nothing is told.
    private var foreign: (position: Int64?, since: ContinuousClock.Instant)?

    /// Of a group with the position `known`, in a partition that is read from `start` on.
    init(_ known: Int64?, at start: Int64, isContested: Bool, _ now: ContinuousClock.Instant) {
        (told, least, isSure) = (known, known ?? start, known != nil && !isContested)
        self.isContested = isContested
        foreign = isContested ? (known, now) : nil
    }

    /// Whether the group is to be told `position`; it is told now.
    mutating func take(_ position: Int64) -> Bool {
        guard foreign == nil, told != position else { return false }
        told = position
        return true
    }

    /// Notes that the group has taken the position `position`, or not: then it may have done so all the same.
    mutating func answer(_ position: Int64, isTaken: Bool) {
        isSure = isTaken
        if isTaken {
            (least, isContested) = (position, false)
        } else if told == position {
            told = nil
        }
    }

    /// Has the group told where it is, also if it knows.
    mutating func tellAgain() { told = nil }

    /// Goes on with another consumer, which hears no answer to what this one was told.
    mutating func rewind() { (told, isSure) = (nil, false) }

    /// Notes that the group has `position`.
    mutating func compare(with position: Int64?, _ now: ContinuousClock.Instant) -> Finding {
        if let known = foreign {
            guard known.position == position else {
                foreign = (position, now)
                return .known
            }
            guard now - known.since >= Self.patience else { return .known }
            (foreign, told) = (nil, nil)
            return .released
        }
        guard isSure, let position, position != least else { return .known }
        (foreign, isContested) = ((position, now), true)
        return .foreign
    }
}
