import KymographCore

/// What templates look for in packets, whose members are known before any packet comes.
extension MappingLoader {
    /// Warns of names in the expressions of `templates` that no packet of `form` has.
    func checkFields(of templates: [DeviceTemplate], _ form: PacketForm, _ log: inout DiagnosticLog) {
        // Segments and fields of messages have names of any sender's.
        guard form.carrier != .message else { return }
        let members = form.members
        let known = Set(members + ["Body", "Properties", "SystemProperties", "matchedToken"])
        for template in templates {
            var expressions = [(template.match, template.position)]
            expressions += [
                template.timestamp, template.device, template.start, template.patient, template.encounter,
                template.correlation,
            ]
            .compactMap { expression in expression.map { ($0, template.position) } }
            expressions += template.values.flatMap { value in
                value.selections.map { ($0, value.position) }
            }
            for (expression, position) in expressions {
                guard let path = expression.path else { continue }
                for name in program.paths.mentionedNames(of: path).map({ program.paths.names[Int($0)] })
                where !known.contains(name) {
                    log.warning(
                        position, "no packet has the member '\(name)' of \(expression.text)",
                        advice: NearestName.advice(
                            for: name, among: members, otherwise: "docs/gatt.md lists the members of packets"),
                        finding: .packetField)
                }
            }
        }
    }
}
