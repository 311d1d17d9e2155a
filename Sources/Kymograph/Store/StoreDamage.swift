import FoundationEssentials
import GRDB
import KymographCore
import Synchronization

/// Where a damaged row was found.
enum DamagedPlace: String, Sendable {
    case journal, outbox
}

extension Store {
    /// Moves rows that cannot be read, by number, out of the way, so that nobody stumbles over them again. What is left
    /// of their bytes stays in the database. Who reads the journal tells of it.
    func quarantine(_ numbers: [Int64], of place: DamagedPlace) {
        if place == .outbox {
            let isOne = numbers.count == 1
            let damaged = isOne ? "is damaged and was put" : "are damaged and were put"
            watch.note(.error("\(CountText.of(numbers.count, "bundle")) of the outbox \(damaged) into quarantine"))
        }
        queue.add { $0.damaged[place, default: []] += numbers }
    }

    /// Moves the rows of `damaged` within a transaction.
    static func quarantine(_ damaged: [DamagedPlace: [Int64]], _ now: Instant, _ db: Database) throws {
        for (place, numbers) in damaged {
            for number in numbers {
                try db.execute(
                    sql: """
                        INSERT INTO quarantine (at, place, body)
                        SELECT ?, ?, body FROM \(place.rawValue) WHERE number = ?
                        """, arguments: [now.nanoseconds, "\(place.rawValue) \(number)", number])
                try db.execute(sql: "DELETE FROM \(place.rawValue) WHERE number = ?", arguments: [number])
            }
        }
    }
}
