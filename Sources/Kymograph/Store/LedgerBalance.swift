/// Readings of the whole store. ``received`` is counted where they come in, all else where they end.
package struct LedgerBalance: Codable, Sendable, Equatable {
    /// Readings that sources gave.
    package var received = 0
    /// Readings that are in windows, those that the archive has dropped since among them.
    package var accepted = 0
    /// Readings that were there already.
    package var duplicate = 0
    /// Readings whose values differed from what was there.
    package var conflict = 0
    /// Retractions that have taken a reading out, or had done so before.
    package var retractions = 0
    /// Readings of windows that are still open.
    package var open = 0
    /// Rejected readings by reason.
    package var rejected: [String: Int] = [:]
    /// Received and nowhere else: on their way, or lost when a run was killed. Nobody was told that they are kept.
    package var onTheWay = 0
    /// Readings that were acknowledged and are not in the store any more: it was damaged.
    package var lost = 0
    /// Whether more may be lost than anybody knows.
    package var isLostAtLeast = false
    /// Datagrams that the kernel dropped: nobody received them.
    package var kernelDropped = 0
}

extension LedgerBalance {
    /// Readings that have ended somewhere, or are in an open window.
    var accountedFor: Int { accepted + duplicate + conflict + retractions + open + rejected.values.reduce(0, +) }

    /// Adds that of another store.
    mutating func add(_ other: LedgerBalance) {
        received += other.received
        accepted += other.accepted
        duplicate += other.duplicate
        conflict += other.conflict
        retractions += other.retractions
        open += other.open
        rejected.merge(other.rejected) { $0 + $1 }
        onTheWay += other.onTheWay
        lost += other.lost
        isLostAtLeast = isLostAtLeast || other.isLostAtLeast
        kernelDropped += other.kernelDropped
    }

    /// The balance in one line.
    package var text: String {
        var text =
            "received \(received) = accepted \(accepted) + duplicate \(duplicate) + conflict \(conflict) + rejected "
            + "\(rejected.values.reduce(0, +))"
        if retractions != 0 { text += " + retractions \(retractions)" }
        if open != 0 { text += " + open \(open)" }
        if onTheWay != 0 { text += " + on the way \(onTheWay)" }
        if lost != 0 || isLostAtLeast { text += " + lost \(isLostAtLeast ? "at least " : "")\(lost)" }
        return text
    }
}
