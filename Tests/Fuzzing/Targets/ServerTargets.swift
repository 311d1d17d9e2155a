@testable import Kymograph
import KymographCore
@testable import KymographTemplates

/// What FHIR servers and token endpoints answer.
extension FuzzTarget {
    static let servers = [FuzzTarget(name: "server-answer", longest: 4_096, run: answer)]

    private static let now = Instant(seconds: 1_700_000_000)

    private static func answer(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        switch input.choice(7) {
        case 0: bundle(input.rest)
        case 1: searches(input.rest)
        case 2: tokens(input.rest)
        case 3: discovery(input.rest)
        case 4: merge(&input)
        case 5: waits(&input)
        default: _ = ServerCapabilities(JSONNode.answer(input.rest))
        }
    }

    private static func bundle(_ body: [UInt8]) {
        for count in 0...3 {
            guard let answers = EntryAnswer.all(body, count: count) else { continue }
            demand(answers.count == count, "\(answers.count) answers to \(count) entries")
            for answer in answers {
                for isWhole in [true, false] {
                    _ = AnswerKind(status: answer.status, outcome: answer.outcome, failures: 9, isWhole: isWhole)
                }
                _ = EntryAnswer.rejection(answer.status, answer.outcome)
                demand(answer.text.count <= 520, "\(answer.text.count) characters")
            }
        }
        demand((ServerOutcome(body: body)?.text.count ?? 0) <= 500, "the words are too long")
    }

    private static func searches(_ body: [UInt8]) {
        guard let page = SearchPage(body, type: "Patient") else { return }
        var pages = SearchPages()
        let identifier = ServerIdentifier(type: "Patient", system: "s", value: "v")
        for _ in 0..<2 {
            pages.add(page, namedBy: identifier, anySystem: false)
            let base = "https://x.example/r4"
            guard let next = page.next, let url = pages.url(of: next, base: base) else { continue }
            demand(url.hasPrefix(base), "the search goes on at \(url)")
        }
    }

    /// A token lives for a time, and no message has a secret.
    private static func tokens(_ body: [UInt8]) {
        for status in [200, 400, 503] {
            let reply = TokenReply(
                origin: "https://x.example", secrets: ["s3cr3t"], response: HTTPResponse(status: status, body: body))
            do throws(AuthorizationFailure) {
                var token = try reply.token(at: now)
                demand(token.renewal <= token.end && token.end >= now, "it ends at \(token.end)")
                token.postponeRenewal(at: now)
            } catch {
                demand(!error.message.contains("s3cr3t"), "\(error.message)")
            }
        }
    }

    private static func discovery(_ body: [UInt8]) {
        guard let base = try? ServerURL("https://x.example/r4") else { return }
        let response = HTTPResponse(status: 200, body: body)
        if let found = try? SMARTConfiguration(response, of: base) {
            demand(found.tokenURL.isEncrypted, "the token URL is not encrypted")
        }
        if let found = try? SMARTConfiguration(statement: response, of: base) {
            demand(found.tokenURL.isEncrypted, "the token URL is not encrypted")
        }
    }

    private static let fresh = JSONNode.answer(
        Array(
            """
            {"resourceType":"Observation","status":"final","effectivePeriod":{"start":"2024-05-01T10:00:00Z",
            "end":"2024-05-01T10:00:04Z"},"component":[{"code":{"coding":[{"system":"s","code":"c"}]},
            "valueSampledData":{"origin":{"value":0},"period":1000,"dimensions":1,"data":"1 2 E 4 5"}}],
            "valueSampledData":{"origin":{"value":0},"period":1000,"dimensions":1,"data":"60 61 62 63 64"}}
            """.utf8))

    /// Merging again what has been merged changes nothing.
    private static func merge(_ input: inout FuzzInput) {
        let compatibility = input.choice(of: [Compatibility.none, .iomtFHIR])
        guard let stored = JSONNode.answer(input.rest), let fresh else { return }
        guard let once = try? ObservationMerge.merge(stored, with: fresh, compatibility: compatibility) else { return }
        guard compatibility == .none else { return }
        let twice = try? ObservationMerge.merge(once, with: fresh, compatibility: compatibility)
        demand(twice?.sortedText == once.sortedText, "\(once.jsonText) becomes \(twice?.jsonText ?? "nothing")")
    }

    /// Fields of a header, one a line: waits are bounded.
    private static func waits(_ input: inout FuzzInput) {
        let lines = input.rest.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        let headers = lines.compactMap { line -> (name: String, value: String)? in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return parts.count == 2 ? (name: parts[0], value: parts[1]) : nil
        }
        let times = RetryTimes(now: now, longest: 3_600_000_000_000)
        let response = HTTPResponse(status: 429, headers: headers)
        for wait in [times.retryAfter(response), times.limitReset(response)] {
            demand(wait.map { (0...times.longest).contains($0) } ?? true, "a wait of \(wait ?? 0) ns")
        }
    }
}
