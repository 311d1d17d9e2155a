import KymographCore

/// One request with all its attempts, until there is an answer that another attempt would not change.
final class Exchange {
    /// What came of an attempt.
    typealias Outcome = Result<HTTPResponse, HTTPFailure>

    /// What to do with the outcome of an attempt.
    enum Verdict {
        /// It is the answer.
        case final
        /// The same request again, later; why.
        case retry(String)
    }

    /// Where the exchange is.
    enum State: Hashable {
        /// Waits for its time.
        case waiting
        /// Asks for the right to be answered.
        case authorizing
        /// The request is under way.
        case sent
    }

    let number: Int
    let request: HTTPRequest
    /// Judges an outcome.
    let judge: (Outcome, Exchange) -> Verdict
    /// Takes the final outcome.
    let completion: (Outcome, Exchange) -> Void
    /// Called before each attempt; whether who asked takes it back, and goes on with it in another way.
    let takesBack: (Exchange) -> Bool
    var state = State.waiting
    /// When the next attempt may be made.
    var due: Instant
    /// How often the request was sent.
    var attempts = 0
    /// Failures so far.
    var failures = 0
    /// Answers that turned it down, to see whether it is to blame.
    var rebuffs: Rebuffs
    /// Whether its content is part of what the server has failed at.
    private let isPart: Bool
    /// Whether nothing is known against it.
    var isNew: Bool { failures == 0 && !isPart }
    /// Whether it may be to blame itself for failures.
    var isDoubtful: Bool { isPart || rebuffs.isDoubtful }
    /// Whether nothing waits for its end: its failures say nothing about the server any more.
    var isDetached = false
    var authorization: String?
    /// Whether the authorization was renewed for this attempt.
    var isRenewed = false
    var sent = Instant.distantPast

    init(
        number: Int, request: HTTPRequest, due: Instant, rebuffs: Rebuffs, isDoubtful: Bool,
        takesBack: @escaping (Exchange) -> Bool, judge: @escaping (Outcome, Exchange) -> Verdict,
        completion: @escaping (Outcome, Exchange) -> Void
    ) {
        self.number = number
        self.request = request
        self.due = due
        self.rebuffs = rebuffs
        isPart = isDoubtful
        self.takesBack = takesBack
        self.judge = judge
        self.completion = completion
    }
}

extension Exchange.Outcome {
    /// Whether the server may have stored what it was sent, without saying so. After any other failure it has not: the
    /// request did not reach it, or it refused all of it. A gateway's 502 or 504 says nothing of the server behind.
    var mayHaveStored: Bool {
        switch self {
        case .failure(let failure): [.lost, .timeout, .tooLong].contains(failure.kind)
        case .success(let response):
            switch response.status {
            case 408: true
            case 300..<500, 500, 501, 503: false
            default: true
            }
        }
    }
}
