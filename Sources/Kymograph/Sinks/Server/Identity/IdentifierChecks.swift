import Foundation
import KymographCore

/// What searches have shown of the Patients and Devices that bundles bring, to be made unless the server has them.
///
/// Such a conditional create is a search of the server's, which may find without regard to case, or by the beginning,
/// and would link somebody else's. So the same search is made before, and all that it finds is compared byte by byte.
/// Where it finds nothing, no other identifier that might be taken for this one may be brought at the same time.
struct IdentifierChecks {
    /// Whether the server has the one of an identifier, and takes no other one for it.
    private var answers: AnswerCache<ServerIdentifier, Bool>
    /// Who waits for an answer.
    private var waiting: [ServerIdentifier: [() -> Void]] = [:]
    /// What is being searched for, and must be once more: it may have been made meanwhile.
    private var outdated: Set<ServerIdentifier> = []
    /// What the server does not have.
    private var absent: [ServerIdentifier: Likeness] = [:]
    /// What bundles under way bring of that.
    private var underWay: [ServerIdentifier: Likeness] = [:]

    /// Keeps answers for `lifetime` nanoseconds.
    init(lifetime: Int64) { answers = AnswerCache(lifetime: lifetime, capacity: 100_000) }

    /// Answers now.
    var count: Int { answers.count }

    /// When the oldest answer that may still be used was asked for.
    func oldest(now: Instant) -> Instant? { answers.oldest(now: now) }

    /// Why `identifier` may not be brought; nil in the result when it may, and nil when the server is to be asked.
    func find(_ identifier: ServerIdentifier, now: Instant) -> Result<Bool, IdentityFailure>? {
        answers.find(identifier, now: now)?.result
    }

    /// Has `completion` called when there is an answer about `identifier`; whether the server is to be asked for it.
    mutating func wait(for identifier: ServerIdentifier, _ completion: @escaping () -> Void) -> Bool {
        waiting[identifier, default: []].append(completion)
        return waiting[identifier]?.count == 1
    }

    /// Takes an answer, which was asked for at `asked`; who waits for it, or nil when the server is to be asked again.
    mutating func take(
        _ result: Result<SearchPages, IdentityFailure>, of identifier: ServerIdentifier, asked: Instant, now: Instant
    ) -> [() -> Void]? {
        guard outdated.remove(identifier) == nil else { return nil }
        let answer = result.flatMap { pages -> Result<Bool, IdentityFailure> in
            if pages.hasOthers { return .failure(.foreign(identifier)) }
            return pages.found.count > 1 ? .failure(.ambiguous(identifier)) : .success(!pages.found.isEmpty)
        }
        answers.keep(answer, of: identifier, asked: asked, now: now)
        if case .success(false) = answer { noteAbsent(identifier) } else { absent[identifier] = nil }
        return waiting.removeValue(forKey: identifier) ?? []
    }

    private mutating func noteAbsent(_ identifier: ServerIdentifier) {
        if absent.count >= answers.capacity {
            for identifier in absent.keys where underWay[identifier] == nil { answers.remove(identifier) }
            absent = underWay
        }
        absent[identifier] = Likeness(identifier)
    }

    /// Forgets all answers, those on their way too.
    mutating func removeAll() {
        answers.removeAll()
        outdated.formUnion(waiting.keys)
    }

    // MARK: What is made

    /// Whether a bundle under way brings another one that the server might take for this one.
    func hasRival(_ identifier: ServerIdentifier) -> Bool {
        guard !underWay.isEmpty, let likeness = absent[identifier] else { return false }
        return underWay.contains { $0.key != identifier && $0.value.mayBe(likeness) }
    }

    /// Notes that a bundle brings `identifier`.
    mutating func begin(_ identifier: ServerIdentifier) { underWay[identifier] = absent[identifier] }

    /// Notes that no bundle brings `identifiers` any more.
    mutating func end(_ identifiers: Set<ServerIdentifier>) {
        for identifier in identifiers { underWay[identifier] = nil }
    }

    /// Notes that the server has `identifier`. Of those that it might be taken for nothing is known any more; nor of
    /// itself, unless it `isNew`: somebody else has made it, or the server takes another one for it.
    mutating func noteMade(_ identifier: ServerIdentifier, isNew: Bool, now: Instant) {
        guard let likeness = absent.removeValue(forKey: identifier) else { return }
        underWay[identifier] = nil
        answers.remove(identifier)
        if isNew { answers.keep(.success(true), of: identifier, asked: now, now: now) }
        for (other, its) in absent where its.mayBe(likeness) { answers.remove(other) }
        for other in waiting.keys where other != identifier && Likeness(other).mayBe(likeness) {
            outdated.insert(other)
        }
    }
}

/// What a server may take identifiers for that compares less than all: case, accents and width, or the end.
private struct Likeness {
    private let type: String
    private let system: [UInt8]
    private let value: [UInt8]

    init(_ identifier: ServerIdentifier) {
        type = identifier.type
        system = Likeness.fold(identifier.system)
        value = Likeness.fold(identifier.value)
    }

    /// Whether one may be taken for the other.
    func mayBe(_ other: Likeness) -> Bool {
        (value.starts(with: other.value) || other.value.starts(with: value)) && type == other.type
            && system == other.system
    }

    private static func fold(_ text: IdentifierText) -> [UInt8] {
        let options: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive, .widthInsensitive]
        let folded = text.text.folding(options: options, locale: nil)
        return Array(folded.trimmingCharacters(in: .whitespaces).utf8)
    }
}
