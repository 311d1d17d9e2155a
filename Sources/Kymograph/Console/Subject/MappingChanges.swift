import KymographTemplates

/// How the console has mappings checked and taken into use.
struct MappingChanges: Sendable {
    /// What a reload would say of the mappings in use if one of them had these files: whether it would take them, and
    /// the findings.
    var check: @Sendable (MappingFiles) -> (isTaken: Bool, findings: [Diagnostic])
    /// Loads the mappings again for a cause: whether they are in use now; nil when that takes long.
    var reload: @Sendable (String) -> Bool?
}
