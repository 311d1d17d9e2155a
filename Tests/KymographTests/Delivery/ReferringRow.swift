/// Rows whose resources refer to others in lists, extensions and members of other names than Observations have.
struct ReferringRow {
    /// Whether entries refer to each other.
    var isTransaction = true
    private var entries: [String] = []
    private var seen: Set<String> = []

    init(isTransaction: Bool = true) { self.isTransaction = isTransaction }

    static let gatewaySystem = "urn:oid:1.2.840.10004.1.1.1.0.0.1.0.0.1.2680"

    /// The row.
    var text: String {
        let type = isTransaction ? "transaction" : "batch"
        return #"{"resourceType":"Bundle","type":"\#(type)","entry":[\#(entries.joined(separator: ","))]}"# + "\n"
    }

    /// A description of a device, which others may point to.
    mutating func describe(_ device: String, serial: String) {
        seen.insert("Device|urn:kymograph:device|\(device)")
        entries.append(
            #"{\#(url("Device", device))"resource":{"resourceType":"Device","identifier":["#
                + #"{"system":"urn:kymograph:device","value":"\#(device)"}],"serialNumber":"\#(serial)"},"#
                + #""request":{"method":"PUT","url":"Device?identifier=urn:kymograph:device%7C\#(device)"}}"#)
    }

    /// What a device gave to a patient: its Device is in a list.
    mutating func administer(_ device: String, _ number: Int, patient: String = "p", status: String = "completed") {
        let subject = reference("Patient", "urn:kymograph:patient", patient)
        let taker = reference("Device", "urn:kymograph:device", device)
        add(
            "MedicationAdministration", "\(device)-\(number)",
            #""status":"\#(status)","subject":\#(subject),"device":[\#(taker)],"number":\#(number)"#)
    }

    /// A message of a device about its wearer, by way of a gateway; its reason is a reference in a reference, as R5 has
    /// them.
    mutating func tell(_ device: String, _ number: Int) {
        let subject = reference("Patient", "urn:kymograph:device-subject", device)
        let sender = reference("Device", "urn:kymograph:device", device, display: "of the ward")
        let gateway = reference("Device", Self.gatewaySystem, "gate")
        let reason = reference("Device", "urn:kymograph:device", device)
        add(
            "Communication", "\(device)-m\(number)",
            #""extension":[{"url":"urn:gateway","valueReference":\#(gateway)}],"status":"completed","#
                + #""subject":\#(subject),"sender":\#(sender),"reason":[{"reference":\#(reason)}],"number":\#(number)"#)
    }

    /// A flag on a patient that names no device.
    mutating func flag(_ patient: String, _ number: Int, status: String = "active") {
        let subject = reference("Patient", "urn:kymograph:patient", patient)
        add("Flag", "\(patient)-\(number)", #""status":"\#(status)","subject":\#(subject),"number":\#(number)"#)
    }

    private mutating func add(_ type: String, _ id: String, _ members: String) {
        entries.append(
            #"{"resource":{"resourceType":"\#(type)","id":"\#(id)","identifier":["#
                + #"{"system":"urn:kymograph:resource","value":"\#(id)"}],\#(members)},"#
                + #""request":{"method":"PUT","url":"\#(type)/\#(id)"}}"#)
    }

    private func url(_ type: String, _ value: String) -> String {
        isTransaction ? #""fullUrl":"urn:uuid:\#(type.lowercased())-\#(value)","# : ""
    }

    private mutating func reference(
        _ type: String, _ system: String, _ value: String, display: String? = nil
    ) -> String {
        if seen.insert("\(type)|\(system)|\(value)").inserted {
            entries.append(
                #"{\#(url(type, value))"resource":{"resourceType":"\#(type)","identifier":["#
                    + #"{"system":"\#(system)","value":"\#(value)"}]},"request":{"method":"POST","url":"\#(type)","#
                    + #""ifNoneExist":"identifier=\#(system)|\#(value)"}}"#)
        }
        let named =
            isTransaction
            ? #""reference":"urn:uuid:\#(type.lowercased())-\#(value)""#
            : #""type":"\#(type)","identifier":{"system":"\#(system)","value":"\#(value)"}"#
        return "{\(named)\(display.map { #","display":"\#($0)""# } ?? "")}"
    }
}
