import KymographTestKit

/// What a test sends: a reading, or a retraction of one.
struct RetractionItem: Hashable {
    /// A kind of readings: those of ``named`` and ``card`` have ids, those of ``spot`` and ``card`` are Observations.
    enum Kind: String, CaseIterable {
        case named, plain, latest, spot, card

        var hasIds: Bool { self == .named || self == .card }
        var isSingle: Bool { self == .spot || self == .card }
    }

    var kind: Kind
    var device: String
    var patient: String?
    var second: Int?
    var id: String?
    /// Nil of a retraction.
    var value: Int?

    var json: String {
        var members = [#""d":"\#(device)""#]
        if let patient { members.append(#""p":"\#(patient)""#) }
        if let second { members.append(#""t":\#(second)"#) }
        if let id { members.append(#""i":"\#(id)""#) }
        members.append(value.map { #""\#(kind.rawValue)":\#($0)"# } ?? #""gone":"\#(kind.rawValue)""#)
        return "{\(members.joined(separator: ","))}"
    }
}

/// What is there after documents, one after the other.
struct RetractionModel {
    private struct Memory: Hashable {
        var kind: RetractionItem.Kind
        var device: String
        var name: String
        var patient: String?
    }

    private(set) var present: [RetractionItem] = []
    private var retracted: Set<Memory> = []

    private func names(_ item: RetractionItem) -> Set<String> {
        Set([item.id.map { "id \($0)" }, item.second.map { "at \($0)" }].compactMap { $0 })
    }

    private func memory(_ item: RetractionItem) -> Memory {
        let name = item.id.map { "id \($0)" } ?? "at \(item.second ?? 0)"
        return Memory(kind: item.kind, device: item.device, name: name, patient: item.patient)
    }

    /// Retractions first, whatever the order in the document.
    mutating func take(_ document: [RetractionItem]) {
        let retractions = document.filter { $0.value == nil }.map(memory)
        for retraction in retractions { retract(retraction) }
        for item in document where item.value != nil { add(item, retractions) }
    }

    private mutating func retract(_ new: Memory) {
        let known = retracted.filter { $0.kind == new.kind && $0.device == new.device && $0.name == new.name }
        if known.contains(where: { new.patient == nil || $0.patient == nil || $0.patient == new.patient }) { return }
        let fitting = present.filter {
            $0.kind == new.kind && $0.device == new.device && names($0).contains(new.name)
        }
        let own = fitting.filter { new.patient == nil || $0.patient == new.patient }
        if own.isEmpty, fitting.isEmpty { retracted.insert(new) }
        guard own.count == 1 else { return }
        present.removeAll { $0 == own[0] }
        var remembered = memory(own[0])
        remembered.patient = new.patient
        retracted.insert(remembered)
    }

    private mutating func add(_ item: RetractionItem, _ document: [Memory]) {
        func isOf(_ memory: Memory) -> Bool {
            memory.kind == item.kind && memory.device == item.device && names(item).contains(memory.name)
        }
        func isOwn(_ memory: Memory) -> Bool { memory.patient == nil || memory.patient == item.patient }
        let against = retracted.filter { isOf($0) && ($0.name.hasPrefix("id") || isOwn($0)) }
        if !against.isEmpty {
            guard document.contains(where: { isOf($0) && isOwn($0) }) else { return }
            retracted.subtract(against.filter(isOwn))
        }
        present.removeAll { other in
            guard other.kind == item.kind, other.device == item.device, other.patient == item.patient else {
                return false
            }
            if item.kind.hasIds { return other.id == item.id }
            return other.second == item.second && (item.kind != .plain || other.value == item.value)
        }
        present.append(item)
    }

    /// An Observation: what is written of its values, in any order.
    struct Shown: Hashable {
        var kind: RetractionItem.Kind
        var device: String
        var patient: String
        /// Start of its window, or time or id of its reading.
        var place: String
    }

    /// The sum of the values of each.
    var observations: [Shown: Int] {
        var found: [Shown: Int] = [:]
        for item in present {
            let second = item.second ?? 0
            let start = item.kind.isSingle ? second : second - second % 300
            let shown = Shown(
                kind: item.kind, device: item.device, patient: item.patient ?? "",
                place: item.kind == .card ? item.id ?? "" : RetractionModel.compact(start))
            found[shown, default: 0] += item.value ?? 0
        }
        return found
    }

    /// A time of 2026-03-01 as identities have it.
    static func compact(_ second: Int) -> String {
        let ofDay = second - 1_772_323_200
        let parts = [ofDay / 3_600, ofDay / 60 % 60, ofDay % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "20260301\(parts.joined())Z"
    }
}
