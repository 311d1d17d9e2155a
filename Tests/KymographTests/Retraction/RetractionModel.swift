import KymographCore
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
        /// What was renewed is forgotten, and letters from before come back.
        case forgetsRenewals
        /// A reading in windows of two lengths is two.
        case countsWindows
        /// A reading may be filed for two patients.
        case forgetsGuard
        /// What comes later of a document that takes its reading back is as any other.
        case forgetsDocuments
    }

    /// How a document comes.
    struct Arrival {
        var received: Instant
        /// Length of the windows of its types.
        var minutes = 5
        /// Whether its devices are of one patient at a time.
        var isGuarded = false
        /// Whether it is a letter of a reading that was taken again.
        var isReturned = false
    }

    /// A reading where it was filed.
    private struct Filed: Hashable {
        var item: RetractionItem
        var minutes: Int
        var received: Instant
    }

    /// A retraction that is remembered.
    private struct Memory: Hashable {
        var kind: RetractionItem.Kind
        var device: String
        var name: String
        var patient: String?
        /// Whether a reading has left for it.
        var took = false
        /// When a document was received that renewed it; the distant past of one that others had said.
        var renewed: Instant?
        /// When the last document was received that said it.
        var came: Instant?

        func isOfSameName(_ other: Memory) -> Bool {
            kind == other.kind && device == other.device && name == other.name
        }
    }

    var fault: Fault?
    private var filed: [Filed] = []
    /// All that is there.
    var present: [RetractionItem] { filed.map(\.item) }
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
    mutating func take(_ document: [RetractionItem], _ arrival: Arrival) {
        let retractions = document.filter { $0.value == nil }.compactMap(memory)
        for retraction in retractions { retract(retraction, at: arrival.received) }
        for item in document where item.value != nil { add(item, arrival, retractions) }
    }

    private mutating func retract(_ new: Memory, at received: Instant) {
        defer { noteDocument(of: new, at: received) }
        let known = retracted.filter { $0.isOfSameName(new) && received <= $0.renewed ?? .distantFuture }
        // It has come before.
        if known.contains(where: { $0.patient == nil || $0.patient == new.patient }) { return }
        if fault == .forgetsWhoIsLeft, new.patient == nil, !known.isEmpty { return }
        let fitting = filed.filter {
            $0.item.kind == new.kind && $0.item.device == new.device && names($0.item).contains(new.name)
        }
        let own = fitting.filter { new.patient == nil || $0.item.patient == new.patient }
        // Whoever is named or not: one that has taken its reading may have been this one.
        let mayHaveCome = new.patient == nil && known.contains(where: \.took)
        if fitting.isEmpty, !mayHaveCome { remember(new) }
        // What has an id is one reading of a patient, in whichever windows it is.
        let isOneId = new.name.hasPrefix("id ") && fault != .countsWindows
        let isOne = own.count == 1 || isOneId && Set(own.map(\.item.patient)).count == 1
        // Nothing is meant, or it cannot be told what, or the reading is another patient's.
        guard isOne, !mayHaveCome, var taken = memory(own[0].item) else { return }
        filed.removeAll { own.contains($0) }
        (taken.patient, taken.took) = (new.patient, true)
        remember(taken)
    }

    /// Notes that a document has said `new`, if anything is remembered of its name.
    private mutating func noteDocument(of new: Memory, at received: Instant) {
        guard retracted.contains(where: { $0.isOfSameName(new) }) else { return }
        var memory = new
        memory.renewed = .distantPast
        if let known = retracted.first(where: { $0.isOfSameName(new) && $0.patient == new.patient }) {
            if let came = known.came, came >= received { return }
            memory = known
        }
        memory.came = received
        remember(memory)
    }

    /// Whatever was known of the name and patient.
    private mutating func remember(_ memory: Memory) {
        retracted = retracted.filter { !($0.isOfSameName(memory) && $0.patient == memory.patient) }
        retracted.insert(memory)
    }

    private mutating func add(_ item: RetractionItem, _ arrival: Arrival, _ document: [Memory]) {
        func isOwn(_ memory: Memory) -> Bool { memory.patient == nil || memory.patient == item.patient }
        let against = against(item, at: arrival.received)
        if !against.isEmpty {
            // What is renewed has been so by a document that came later.
            guard against.allSatisfy({ $0.renewed == nil }),
                document.contains(where: { isOf($0, item) && isOwn($0) }) || isOfRetraction(item, arrival.received)
            else { return }
        }
        guard !isAnothers(item, arrival) else { return }
        let new = Filed(item: item, minutes: item.kind.isSingle ? 5 : arrival.minutes, received: arrival.received)
        let known = filed.first { isSame($0, new) }
        if let known {
            let isEarlier = arrival.isReturned ? new.received <= known.received : new.received < known.received
            guard !isEarlier else { return }
        }
        renew(fault == .renewsHalf ? against.filter(isOwn) : against, at: arrival.received)
        filed = filed.filter { !isSame($0, new) }
        filed.append(new)
    }

    private mutating func renew(_ memories: Set<Memory>, at received: Instant) {
        retracted.subtract(memories)
        guard fault != .forgetsRenewals else { return }
        for var memory in memories {
            memory.renewed = received
            retracted.insert(memory)
        }
    }

    /// Whether a reading of a guarded device was filed for somebody else: by the same id, or at the same time.
    private func isAnothers(_ item: RetractionItem, _ arrival: Arrival) -> Bool {
        guard arrival.isGuarded, fault != .forgetsGuard else { return false }
        return present.contains {
            $0.kind == item.kind && $0.device == item.device && $0.patient != item.patient
                && ($0.second == item.second || item.kind.hasIds && $0.id == item.id)
        }
    }

    private func isOf(_ memory: Memory, _ item: RetractionItem) -> Bool {
        memory.kind == item.kind && memory.device == item.device && names(item).contains(memory.name)
    }

    /// Whether it is of the document that was the last one to take the reading back, and comes later.
    private func isOfRetraction(_ item: RetractionItem, _ received: Instant) -> Bool {
        func isOwn(_ memory: Memory) -> Bool { memory.patient == nil || memory.patient == item.patient }
        let said = retracted.filter { isOf($0, item) && (isOwn($0) || item.kind.hasIds && $0.took) }
        guard fault != .forgetsDocuments, said.allSatisfy({ $0.came ?? .distantPast <= received }) else { return false }
        return said.contains { isOwn($0) && $0.came == received }
    }

    /// What keeps a reading out that was received at `received`. The id of a reading that was there is that one's,
    /// whoever it comes for.
    private func against(_ item: RetractionItem, at received: Instant) -> Set<Memory> {
        retracted.filter { memory in
            let isOwn = memory.patient == nil || memory.patient == item.patient
            return isOf(memory, item) && received < memory.renewed ?? .distantFuture
                && (isOwn || item.kind.hasIds && (memory.took || fault == .keepsOutOthers))
        }
    }

    /// Whether they are one reading.
    private func isSame(_ other: Filed, _ new: Filed) -> Bool {
        let (one, item) = (other.item, new.item)
        guard one.kind == item.kind, one.device == item.device, one.patient == item.patient,
            other.minutes == new.minutes
        else { return false }
        if item.kind.hasIds { return one.id == item.id }
        return one.second == item.second && (item.kind != .plain || one.value == item.value)
    }

    /// An Observation: what is written of its values, in any order.
    struct Shown: Hashable {
        var kind: RetractionItem.Kind
        var device: String
        var patient: String
        /// Start and end of its window, or time or id of its reading.
        var place: String

        init(kind: RetractionItem.Kind, device: String, patient: String, place: String) {
            (self.kind, self.device, self.patient, self.place) = (kind, device, patient, place)
        }

        /// The Observation with this identifier; nil when that is none of readings here.
        init?(identifier: String) {
            let parts = identifier.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard parts.count > 4, let kind = RetractionItem.Kind(rawValue: parts[2]) else { return nil }
            let place =
                switch kind {
                case .card: parts[parts.count - 1]
                case .spot: parts[4]
                case .named, .plain, .latest: "\(parts[3])-\(parts[4])"
                }
            self.init(kind: kind, device: parts[1], patient: parts[0], place: place)
        }
    }

    /// The sum of the values of each.
    var observations: [Shown: Int] {
        var found: [Shown: Int] = [:]
        for one in filed {
            let (item, second) = (one.item, one.item.second ?? 0)
            let shown = Shown(
                kind: item.kind, device: item.device, patient: item.patient ?? "", place: place(of: one, second))
            found[shown, default: 0] += item.value ?? 0
        }
        return found
    }

    private func place(of one: Filed, _ second: Int) -> String {
        if one.item.kind == .card { return one.item.id ?? "" }
        guard !one.item.kind.isSingle else { return RetractionModel.compact(second) }
        let start = second - second % (60 * one.minutes)
        return "\(RetractionModel.compact(start))-\(RetractionModel.compact(start + 60 * one.minutes - 1))"
    }

    /// A time of 2026-03-01 as identities have it.
    static func compact(_ second: Int) -> String {
        let ofDay = second - 1_772_323_200
        let parts = [ofDay / 3_600, ofDay / 60 % 60, ofDay % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "20260301\(parts.joined())Z"
    }
}
