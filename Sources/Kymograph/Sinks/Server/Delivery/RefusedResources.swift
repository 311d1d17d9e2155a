import KymographCore

/// The Patients and Devices that a server refuses, of which each batch brings another copy: one dead letter tells of
/// all of them, as long as the answer is the same. Letters of readings must not be pushed out by more.
final class RefusedResources {
    /// What a server says, without the words, which may be others each time.
    private struct Refusal: Hashable {
        var status: Int
        var codes: String

        init(_ answer: EntryAnswer) {
            status = answer.status
            codes = String((answer.outcome?.codes ?? []).joined(separator: " ").prefix(200))
        }
    }

    /// Most letters in all.
    let most: Int
    private var told = 0
    private var refusals: [ServerIdentifier: Refusal] = [:]

    init(most: Int) { self.most = most }

    /// Whether there are no letters of others any more.
    var isFull: Bool { told >= most }

    /// Notes that a server has refused the one of `identifier` with `answer`; whether that has no letter yet.
    func note(_ answer: EntryAnswer, of identifier: ServerIdentifier) -> Bool {
        let refusal = Refusal(answer)
        guard told < most, refusals[identifier] != refusal else { return false }
        refusals[identifier] = refusal
        told += 1
        return true
    }

    /// Notes that a server has the one of `identifier`.
    func forget(_ identifier: ServerIdentifier) { refusals[identifier] = nil }
}
