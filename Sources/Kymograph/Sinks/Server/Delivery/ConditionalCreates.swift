import KymographCore

/// The Patients and Devices that bundles bring, for the server to create unless it has them.
final class ConditionalCreates: EntryIdentities {
    /// Most identifiers that are remembered as present.
    private static let mostPresent = 100_000

    private let server: ChannelServer
    private let clock: DeliveryClock
    /// Whether the server is searched for them before bundles bring them.
    private let isChecked: Bool
    /// What those searches have shown.
    private var checks: IdentifierChecks
    /// Those that bundles under way ask the server to create.
    private var locked: Set<ServerIdentifier> = []
    /// Those that the server has.
    private var present: Set<ServerIdentifier> = []

    init(_ settings: DeliverySettings, _ channel: ServerChannel, clock: DeliveryClock) {
        server = ChannelServer(channel, settings)
        self.clock = clock
        isChecked = settings.checksIdentifiers
        checks = IdentifierChecks(lifetime: settings.identityMaxAge)
    }

    // MARK: What bundles bring

    /// Whether `entry` must wait for a bundle under way, which brings what it brings, or what the server might take
    /// for that.
    func isHeldUp(_ entry: DeliveryEntry) -> Bool {
        entry.brought.contains { locked.contains($0) || checks.hasRival($0) }
    }

    /// Notes that a bundle brings what `entry` needs.
    func begin(_ entry: DeliveryEntry) {
        for identifier in entry.brought { checks.begin(identifier) }
    }

    /// Locks those of `identifiers` that the server may not have, and gives them: no other bundle may bring them
    /// meanwhile.
    func lock(_ identifiers: Set<ServerIdentifier>) -> Set<ServerIdentifier> {
        let missing = missing(of: identifiers)
        locked.formUnion(missing)
        return missing
    }

    /// Notes that no bundle brings `identifiers` any more.
    func unlock(_ identifiers: Set<ServerIdentifier>) {
        locked.subtract(identifiers)
        checks.end(identifiers)
    }

    /// Whether the server has the one of `identifier`.
    func isPresent(_ identifier: ServerIdentifier) -> Bool { present.contains(identifier) }

    /// Those of `identifiers` that the server may not have.
    func missing(of identifiers: Set<ServerIdentifier>) -> Set<ServerIdentifier> { identifiers.subtracting(present) }

    /// Notes that the server has the one of `identifier`, which it has created now if that `isNew`.
    func noteStored(_ identifier: ServerIdentifier, isNew: Bool) {
        checks.noteMade(identifier, isNew: isNew, now: clock.elapsed())
        if present.count >= Self.mostPresent { present.removeAll() }
        present.insert(identifier)
    }

    // MARK: Searches before

    var answerCount: Int { checks.count }

    func oldestAnswer(now: Instant) -> Instant? { checks.oldest(now: now) }

    func forgetAnswers() { checks.removeAll() }

    func standing(of entry: DeliveryEntry) -> IdentityStanding {
        guard isChecked else { return .known }
        let now = clock.elapsed()
        var standing = IdentityStanding.known
        for identifier in entry.brought {
            switch checks.find(identifier, now: now) {
            case .failure(let failure): return .failed(failure)
            case .success: break
            case nil: standing = .unknown
            }
        }
        return standing
    }

    func isOutdated(_ entry: DeliveryEntry) -> Bool {
        guard !entry.mayBeStored else { return false }
        if case .known = standing(of: entry) { return false }
        return true
    }

    func ask(about entry: DeliveryEntry, _ completion: @escaping () -> Void) {
        let now = clock.elapsed()
        let unknown = entry.brought.filter { checks.find($0, now: now) == nil }
        var open = unknown.count
        if open == 0 { return completion() }
        for identifier in unknown {
            let isNew = checks.wait(for: identifier) {
                open -= 1
                if open == 0 { completion() }
            }
            if isNew { search(identifier) }
        }
    }

    private func search(_ identifier: ServerIdentifier) {
        let asked = clock.elapsed()
        server.searchAll(identifier) { [self] result in
            let result = result.mapError {
                IdentityFailure(reason: $0.reason, resource: identifier.type, message: $0.message)
            }
            guard let waiting = checks.take(result, of: identifier, asked: asked, now: clock.elapsed()) else {
                return search(identifier)
            }
            if case .success(false)? = checks.find(identifier, now: asked) { present.remove(identifier) }
            for completion in waiting { completion() }
        }
    }
}
