import Synchronization

/// How many searches of each client wait or are answered: one that asks for much must not keep others from asking.
final class SearchTurns: Sendable {
    /// Most of one client.
    static let most = 4

    private let taken = Mutex<[[UInt8]: Int]>([:])

    /// Takes a turn of the client that `key` stands for; false when it has all of its turns.
    func take(_ key: [UInt8]) -> Bool {
        taken.withLock { taken in
            guard taken[key, default: 0] < Self.most else { return false }
            taken[key, default: 0] += 1
            return true
        }
    }

    /// Gives a turn back that was taken.
    func giveBack(_ key: [UInt8]) {
        taken.withLock { taken in
            let left = taken[key, default: 0] - 1
            taken[key] = left > 0 ? left : nil
        }
    }
}
