import KymographCore

/// What the failures of requests, one after the other, say about a server.
struct ServerHealth {
    private struct Episode {
        var trouble: DeliveryTrouble
        /// Whether a request failed that was to change something: that others can be read says nothing then.
        var isOfWrite: Bool
        /// When the cause was seen first, on the clock that never jumps.
        let began: Instant
    }

    /// Trouble that may pass by itself counts after this time without an answer, in nanoseconds: servers that are busy
    /// for a moment are no news.
    static let patience: Int64 = 2_000_000_000

    private var episode: Episode?
    /// Trouble that stays until the server has said something else about itself.
    private var unfitness: Episode?

    /// Notes that a request failed; `civil` is the time of day.
    mutating func fail(_ trouble: DeliveryTrouble, isWrite: Bool, now: Instant, civil: Instant) {
        var trouble = trouble
        if let former = episode, former.trouble.cause == trouble.cause {
            trouble.since = former.trouble.since
            episode?.trouble = trouble
            episode?.isOfWrite = former.isOfWrite || isWrite
        } else {
            trouble.since = civil.inWholeSeconds
            episode = Episode(trouble: trouble, isOfWrite: isWrite || episode?.isOfWrite == true, began: now)
        }
    }

    /// Notes that a request got an answer that is final.
    mutating func succeed(isWrite: Bool) {
        guard let episode, isWrite || !episode.isOfWrite else { return }
        self.episode = nil
    }

    /// Notes that the server cannot be delivered to, or, with nil, that it can.
    mutating func judge(unfit trouble: DeliveryTrouble?, now: Instant, civil: Instant) {
        guard var trouble else { return unfitness = nil }
        trouble.since = unfitness?.trouble.since ?? civil.inWholeSeconds
        unfitness = Episode(trouble: trouble, isOfWrite: false, began: unfitness?.began ?? now)
    }

    /// What an operator should know; nil when there is nothing. `isLeftAlone`: so many requests have failed that the
    /// server is not asked for a while.
    func trouble(now: Instant, isLeftAlone: Bool) -> DeliveryTrouble? {
        guard let episode = unfitness ?? episode else { return nil }
        let age = now.nanoseconds - episode.began.nanoseconds
        var trouble = episode.trouble
        guard trouble.isDefinite || isLeftAlone || age >= ServerHealth.patience else { return nil }
        trouble.seconds = Double(age) / 1e9
        return trouble
    }
}

extension DeliveryTrouble {
    /// What the outcome of an attempt says that was not final. What the server says in words stays out: it may quote
    /// content.
    init(_ outcome: Exchange.Outcome) {
        switch outcome {
        case .failure(let failure):
            switch failure.kind {
            case .security: self.init(.insecure, failure.message, isDefinite: true)
            case .unreachable, .lost, .timeout, .tooLong, .closed: self.init(.unreachable, failure.message)
            }
        case .success(let response):
            switch response.status {
            case 401: self.init(.credentialsRefused, "the server refuses the credentials (401)", isDefinite: true)
            case 403: self.init(.credentialsRefused, "the server does not permit it with these credentials (403)")
            case 200..<300: self.init(.refusing, "the server's answers are not whole (status \(response.status))")
            default: self.init(.refusing, "the server answers \(response.status)")
            }
        }
    }

    /// Why there is no token.
    init(_ failure: AuthorizationFailure) {
        self.init(.noToken, failure.message, isDefinite: !failure.isRetriable)
    }
}

extension Instant {
    /// RFC 3339 in UTC, without a fraction of the second.
    var inWholeSeconds: String {
        let rest = nanoseconds % 1_000_000_000
        return Instant(nanoseconds: nanoseconds - (rest < 0 ? rest + 1_000_000_000 : rest)).text
    }
}
