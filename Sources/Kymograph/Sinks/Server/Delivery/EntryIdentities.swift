import KymographCore

/// What is known of those whom an entry is about.
enum IdentityStanding {
    /// All that is needed.
    case known
    /// The entry can never be sent.
    case failed(IdentityFailure)
    /// The server is to be asked.
    case unknown
}

/// What the server has of those whom entries are about: it is asked before they are sent.
///
/// ``IdentityLookups`` where the Patients and Devices are the server's, ``ConditionalCreates`` where bundles bring
/// them.
protocol EntryIdentities: AnyObject {
    /// What is known for `entry` now, which gets the ids that the server has.
    func standing(of entry: DeliveryEntry) -> IdentityStanding

    /// Asks the server for what is not known for `entry`.
    func ask(about entry: DeliveryEntry, _ completion: @escaping () -> Void)

    /// Whether the server is to be asked again about `entry` before that is sent once more.
    ///
    /// What waits for a server does not keep for longer than others what the server said before: it is asked again,
    /// unless it may have what was sent. An Observation that it has stays whose it was.
    func isOutdated(_ entry: DeliveryEntry) -> Bool

    /// Forgets all answers, those on their way too: the server is asked again.
    func forgetAnswers()

    /// Answers that are remembered.
    var answerCount: Int { get }

    /// When the oldest answer that may still be used was asked for; nil when there is none.
    func oldestAnswer(now: Instant) -> Instant?
}

extension EntryIdentities {
    /// Asks the server again about `entries`, one after the other; those that can never be sent are `failed`.
    func renew(
        _ entries: ArraySlice<DeliveryEntry>, failed: @escaping (DeliveryEntry, IdentityFailure) -> Void,
        completion: @escaping () -> Void
    ) {
        var left = entries
        while let entry = left.first {
            switch standing(of: entry) {
            case .known: break
            case .failed(let failure): failed(entry, failure)
            case .unknown:
                return ask(about: entry) { [self, left] in renew(left, failed: failed, completion: completion) }
            }
            left.removeFirst()
        }
        completion()
    }
}
