import KymographCore

/// Where a partition is read from that this process has not read yet: by the group's position, which operators set by
/// their tools, by that of the store, and by the configuration, in this order (docs/decisions/0050).
struct PartitionStart: Equatable {
    /// What the group and the store have.
    struct Known: Equatable {
        /// The group's position; nil for none.
        var group: Int64?
        /// That of the store.
        var store: TopicPosition?
        /// Where it is read from without both.
        var beginning = KafkaReading.Beginning.earliest
    }

    /// The record to be read next.
    private(set) var next: Int64
    /// The record before that; nil where it is not known, or need not be that one.
    private(set) var proof: RecordPrint?
    /// Whether others tell positions of the group.
    private(set) var isContested = false
    /// Offsets that somebody has passed over, at most.
    private(set) var passedOver: Int64 = 0
    /// What the operator should know of it.
    private(set) var note: String?

    /// Decides on a partition that has the records `offsets`.
    init(_ known: Known, offsets: Range<Int64>) {
        guard let store = known.store else {
            next = known.group ?? (known.beginning == .earliest ? offsets.lowerBound : offsets.upperBound)
            return
        }
        guard let group = known.group else {
            (next, proof) = (store.next, store.print)
            note = "the group has no position any more: it is read on from \(next), up to where the store has it"
            return
        }
        next = group
        switch store.telling {
        case .left where !store.range.contains(group):
            note =
                "this instance did not read it for a while: it is read on from \(group), where the group is, and not "
                + "from \(store.next), where the store has it"
        case .contested: takeLower(group, store)
        case .own where group < store.told: note = "the position was set back from \(store.next) to \(group)"
        case .own where group > store.next:
            passedOver = group - store.next
            let records = CountText.of(Int(passedOver), one: "record at most is", many: "records at most are")
            note =
                "the position was set forward from \(store.next), where the store has it, to \(group): "
                + "\(records) passed over; unless somebody has meant it so, end kymo, set it to "
                + "\(store.next), and start it again"
        case .own, .left: takeOwn(group, store, offsets)
        }
    }

    /// The group has what it was told by whoever has filled the store, or a moment less.
    private mutating func takeOwn(_ group: Int64, _ store: TopicPosition, _ offsets: Range<Int64>) {
        if group != store.told, group != store.next {
            note =
                "the group's position is \(group), and all before \(store.next) is in the store: it is read on from "
                + "there"
        }
        guard group < store.next, group <= offsets.lowerBound else { return (next, proof) = (store.next, store.print) }
        // All that there is: nothing is passed over, whatever topic it is.
        (next, note) = (min(offsets.lowerBound, store.next), nil)
    }

    /// What another client has told may be of records that are not in this store; nor has a store that was repaired all
    /// that the group was told.
    private mutating func takeLower(_ group: Int64, _ store: TopicPosition) {
        isContested = group != store.next
        guard group != store.next else { return (next, proof) = (store.next, store.print) }
        let why = "another client has told positions under this group, or the store was repaired"
        guard group > store.next else {
            note = "\(why): it is read again from \(group), and not on from \(store.next), where the store has it"
            return
        }
        (next, proof) = (store.next, store.print)
        note = "\(why): it is read on from \(next), where the store has it, and not from \(group)"
    }
}
