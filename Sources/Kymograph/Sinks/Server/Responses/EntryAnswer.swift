import KymographCore
import KymographTemplates

/// What a server made of one entry of a bundle.
struct EntryAnswer {
    /// HTTP status.
    var status: Int
    /// `Location`, empty when there is none.
    var location = ""
    /// `ETag`, empty when there is none.
    var version = ""
    /// What the server says about it.
    var outcome: ServerOutcome?

    /// The answers to the `count` entries of a bundle, in their order; nil when `body` is no whole answer.
    static func all(_ body: [UInt8], count: Int) -> [EntryAnswer]? {
        guard let bundle = JSONNode.answer(body), bundle.child("resourceType")?.string == "Bundle",
            let entries = bundle.child("entry")?.elements, entries.count == count
        else { return nil }
        let answers = entries.compactMap(EntryAnswer.init)
        return answers.count == count ? answers : nil
    }

    private init?(_ entry: JSONNode) {
        guard let response = entry.child("response"), let text = response.child("status")?.string,
            let status = Int(text.prefix(3))
        else { return nil }
        self.status = status
        location = response.child("location")?.string ?? ""
        version = response.child("etag")?.string ?? ""
        outcome = ServerOutcome(response.child("outcome"))
    }

    /// An answer without words.
    init(status: Int) { self.status = status }

    /// Whether the server has stored it.
    var isStored: Bool { (200..<300).contains(status) }

    /// Whether the server may have stored it all the same, as ``Exchange/Outcome/mayHaveStored`` has it, and 500: a
    /// batch is no whole, so that what failed may have been stored before.
    var mayHaveStored: Bool { status == 408 || status >= 500 && ![501, 503].contains(status) }

    /// Status and words.
    var text: String { EntryAnswer.text(status, outcome) }

    /// A status and the words that came with it.
    static func text(_ status: Int, _ outcome: ServerOutcome?) -> String {
        guard let outcome, !outcome.text.isEmpty else { return "\(status)" }
        return "\(status) \(outcome.text)"
    }

    /// What came of a request, without the pages of proxies.
    static func text(_ outcome: Exchange.Outcome) -> String {
        switch outcome {
        case .failure(let failure): return failure.message
        case .success(let response):
            let answer = text(response.status, ServerOutcome(body: response.body))
            return (200..<300).contains(response.status)
                ? "the server's answer is not whole (status \(answer))" : "the server answers \(answer)"
        }
    }

    /// Why an entry is undeliverable that was refused so.
    static func rejection(_ status: Int, _ outcome: ServerOutcome?) -> Rejection {
        switch status {
        case 413: return .entryTooLarge
        // It was sent often enough.
        case 200..<300, 408, 429, 500...: return .serverFailed
        default: break
        }
        return status == 412 || outcome?.codes.contains("multiple-matches") == true
            ? .identityAmbiguous : .serverRefused
    }
}
