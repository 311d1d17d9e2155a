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

/// What is there after documents, one after the other: the tables of docs/retraction.md.
struct RetractionModel {
    /// A rule that is not kept, to see that the sequences find that.
    enum Fault: CaseIterable {
        /// A reading with an id is taken by its time.
        case takesByTime
        /// A retraction without patient has come when any of its name has.
        case forgetsWhoIsLeft
        /// An id that is renewed stays out for who was named with it.
        case renewsHalf
        /// An id that has not come is kept out for any patient.
        case keepsOutOthers
    }

    /// A retraction that is remembered.
    private struct Memory: Hashable {
        var kind: RetractionItem.Kind
        var device: String
        var name: String
        var patient: String?
        /// Whether a reading has left for it.
        var took = false

        func isOfSameName(_ other: Memory) -> Bool {
            kind == other.kind && device == other.device && name == other.name
        }
    }

    var fault: Fault?
    private(set) var present: [RetractionItem] = []
    private var retracted: Set<Memory> = []

    /// What a retraction may call the reading: its id, or its time where its kind has no ids.
    private func names(_ item: RetractionItem) -> Set<String> {
        let time = item.kind.hasIds && fault != .takesByTime ? nil : item.second.map { "at \($0)" }
        return Set([item.id.map { "id \($0)" }, time].compactMap { $0 })
    }

    /// What a retraction says; nil when that is no name.
    private func memory(_ item: RetractionItem) -> Memory? {
        let name = item.id.map { "id \($0)" } ?? "at \(item.second ?? 0)"
        if item.kind.hasIds, item.id == nil, fault != .takesByTime { return nil }
        return Memory(kind: item.kind, device: item.device, name: name, patient: item.patient)
    }

    /// Retractions first, whatever the order in the document.
    mutating func take(_ document: [RetractionItem]) {
        let retractions = document.filter { $0.value == nil }.compactMap(memory)
        for retraction in retractions { retract(retraction) }
        for item in document where item.value != nil { add(item, retractions) }
    }

    private mutating func retract(_ new: Memory) {
        let known = retracted.filter { $0.isOfSameName(new) }
        // It has come before.
        if known.contains(where: { $0.patient == nil || $0.patient == new.patient }) { return }
        if fault == .forgetsWhoIsLeft, new.patient == nil, !known.isEmpty { return }
        let fitting = present.filter {
            $0.kind == new.kind && $0.device == new.device && names($0).contains(new.name)
        }
        let own = fitting.filter { new.patient == nil || $0.patient == new.patient }
        // Whoever is named or not: one that has taken its reading may have been this one.
        let mayHaveCome = new.patient == nil && known.contains(where: \.took)
        if fitting.isEmpty, !mayHaveCome { retracted.insert(new) }
        // Nothing is meant, or it cannot be told what, or the reading is another patient's.
        guard own.count == 1, !mayHaveCome, var taken = memory(own[0]) else { return }
        present.removeAll { $0 == own[0] }
        (taken.patient, taken.took) = (new.patient, true)
        retracted = retracted.filter { !($0.isOfSameName(taken) && $0.patient == taken.patient) }
        retracted.insert(taken)
    }

    private mutating func add(_ item: RetractionItem, _ document: [Memory]) {
        func isOwn(_ memory: Memory) -> Bool { memory.patient == nil || memory.patient == item.patient }
        let against = against(item)
        if !against.isEmpty {
            guard document.contains(where: { isOf($0, item) && isOwn($0) }) else { return }
            retracted.subtract(fault == .renewsHalf ? against.filter(isOwn) : against)
        }
        present = present.filter { !isSame($0, item) }
        present.append(item)
    }

    private func isOf(_ memory: Memory, _ item: RetractionItem) -> Bool {
        memory.kind == item.kind && memory.device == item.device && names(item).contains(memory.name)
    }

    /// What keeps a reading out. The id of a reading that was there is that one's, whoever it comes for.
    private func against(_ item: RetractionItem) -> Set<Memory> {
        retracted.filter { memory in
            let isOwn = memory.patient == nil || memory.patient == item.patient
            return isOf(memory, item)
                && (isOwn || item.kind.hasIds && (memory.took || fault == .keepsOutOthers))
        }
    }

    /// Whether they are one reading.
    private func isSame(_ other: RetractionItem, _ item: RetractionItem) -> Bool {
        guard other.kind == item.kind, other.device == item.device, other.patient == item.patient else { return false }
        if item.kind.hasIds { return other.id == item.id }
        return other.second == item.second && (item.kind != .plain || other.value == item.value)
    }

    /// Whether an earlier version of a reading changes nothing: a later one is there, or it stays out.
    func isSettled(_ item: RetractionItem) -> Bool {
        present.contains { isSame($0, item) } || !against(item).isEmpty
    }

    /// An Observation: what is written of its values, in any order.
    struct Shown: Hashable {
        var kind: RetractionItem.Kind
        var device: String
        var patient: String
        /// Start of its window, or time or id of its reading.
        var place: String

        init(kind: RetractionItem.Kind, device: String, patient: String, place: String) {
            (self.kind, self.device, self.patient, self.place) = (kind, device, patient, place)
        }

        /// The Observation with this identifier; nil when that is none of readings here.
        init?(identifier: String) {
            let parts = identifier.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard parts.count > 4, let kind = RetractionItem.Kind(rawValue: parts[2]) else { return nil }
            let place = kind == .card ? parts[parts.count - 1] : parts[kind == .spot ? 4 : 3]
            self.init(kind: kind, device: parts[1], patient: parts[0], place: place)
        }
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
