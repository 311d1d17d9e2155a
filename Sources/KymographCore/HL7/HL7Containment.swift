/// The devices of a message, their modules and channels, and which results are theirs (IHE PCD-01, OBX-4).
struct HL7Containment: ~Copyable {
    /// A line that names an instance of equipment.
    struct Container: BitwiseCopyable {
        /// Its place in the tree, such as `1.0.0.0`.
        var place: ByteView
        var device: ByteView
        var segment: Int
        /// The number of the patient, and of the group, in which it stands.
        var patient: Int
        var group: Int
    }

    /// Most of them in a message: a hospital's whole ward has fewer.
    private static let most = 256

    private var containers = RawArray<Container>()
    private var group = 0
    private var patient = 0

    /// What the message says of the device of a result.
    enum Finding {
        /// Nothing.
        case none
        /// This line names it.
        case one(Container)
        /// Two lines of one level name two devices.
        case conflict(Container, Container)
    }

    init() {}

    /// Forgets the former message.
    mutating func removeAll() {
        containers.removeAll()
        (group, patient) = (0, 0)
    }

    /// Goes back before the first group, and keeps the lines of all.
    mutating func rewind() { (group, patient) = (0, 0) }

    /// Begins with another group, of the patient with this number in the message.
    mutating func beginGroup(patient: Int) {
        group += 1
        self.patient = patient
    }

    /// Adds a line of the group; one that names no device says nothing.
    ///
    /// - Throws: ``ScanFailure`` when there are too many of them.
    mutating func add(_ place: ByteView, device: ByteView?, segment: Int) throws(ScanFailure) {
        guard let device else { return }
        guard containers.count < Self.most else { throw ScanFailure(reason: .tooManyValues, offset: 0) }
        containers.append(
            Container(place: place, device: device, segment: segment, patient: patient, group: group))
    }

    /// Who the device of what is at `place` is: the device as a whole, else its module, else the channel. Where one of
    /// these is named in two ways, the others say nothing.
    func find(_ place: ByteView) -> Finding {
        guard place.isHL7Place else { return .none }
        for depth in 1...3 {
            let found = find(above: place, depth: depth)
            guard case .none = found else { return found }
        }
        return .none
    }

    /// The container whose first `depth` numbers are those of `place`, and whose others are 0: of the group, else of
    /// another one of the patient.
    private func find(above place: ByteView, depth: Int) -> Finding {
        let own = find(above: place, depth: depth, ofGroup: group)
        guard case .none = own else { return own }
        return find(above: place, depth: depth, ofGroup: nil)
    }

    private func find(above place: ByteView, depth: Int, ofGroup group: Int?) -> Finding {
        var found: Container?
        for index in 0..<containers.count {
            let container = containers[index]
            guard container.patient == patient, group == nil || container.group == group,
                Self.holds(container.place, place, depth: depth)
            else { continue }
            if let former = found, !former.device.equals(container.device) { return .conflict(former, container) }
            found = container
        }
        guard let found else { return .none }
        return .one(found)
    }

    private static func holds(_ container: ByteView, _ place: ByteView, depth: Int) -> Bool {
        for number in 0..<4 {
            let part = container.part(number, between: UInt8(ascii: "."))
            let wanted = place.part(number, between: UInt8(ascii: "."))
            if number < depth ? !part.equals(wanted) : !part.equals(ByteView("0")) { return false }
        }
        return true
    }
}
