import KymographCore
import KymographTemplates

/// The extensions of HealthKitOnFHIR with the exact start and end of an Observation, when it is merged into another.
enum ExactTimes {
    /// A bound, which is the earlier or the later of two.
    private struct Bound {
        var url: String
        var isStart: Bool

        /// The element of `observation` that has it, and its number.
        func find(in observation: JSONNode) -> (element: JSONNode, number: Decimal64)? {
            for element in observation.member("extension")?.elements ?? [] where element.isExtension(url) {
                guard let text = element.member("valueDecimal")?.numberText else { continue }
                let digits = PaddedBytes(copying: text.utf8)
                if case .number(let number) = DecimalParser.parse(digits.view) { return (element, number) }
            }
            return nil
        }
    }

    private static let bounds = [
        Bound(url: AbsoluteTimeRange.start, isStart: true), Bound(url: AbsoluteTimeRange.end, isStart: false),
    ]

    /// Has those of `merged`, which is the stored Observation up to here, cover what `new` covers, too. Where `new` has
    /// none and the Observation `hasNewTimes`, nobody knows them exactly, and they go.
    static func merge(of new: JSONNode, into merged: inout JSONNode, hasNewTimes: Bool) {
        guard bounds.contains(where: { merged.hasExtension($0.url) }) else { return }
        let pairs = bounds.map { ($0, stored: $0.find(in: merged), fresh: $0.find(in: new)) }
        guard pairs.allSatisfy({ $0.stored != nil && $0.fresh != nil }) else {
            if hasNewTimes { for bound in bounds { merged.removeExtension(bound.url) } }
            return
        }
        for case (let bound, let stored?, let fresh?) in pairs {
            let (earlier, later) = bound.isStart ? (fresh, stored) : (stored, fresh)
            if earlier.number.isLess(than: later.number) { merged.replaceExtension(bound.url, by: fresh.element) }
        }
    }
}

extension JSONNode {
    fileprivate func isExtension(_ url: String) -> Bool {
        member("url")?.string.map { $0.utf8.elementsEqual(url.utf8) } ?? false
    }

    fileprivate func hasExtension(_ url: String) -> Bool {
        member("extension")?.elements?.contains { $0.isExtension(url) } ?? false
    }

    /// Without an element, FHIR has no list either.
    fileprivate mutating func removeExtension(_ url: String) {
        let rest = (member("extension")?.elements ?? []).filter { !$0.isExtension(url) }
        set("extension", to: rest.isEmpty ? nil : JSONNode(.array(rest)))
    }

    fileprivate mutating func replaceExtension(_ url: String, by element: JSONNode) {
        let all = (member("extension")?.elements ?? []).map { $0.isExtension(url) ? element : $0 }
        set("extension", to: JSONNode(.array(all)))
    }
}
