/// Where the Patient and Device of a reading come from on a server. A sink has no default: a Patient must not be made
/// by accident.
package enum ResourceIdentityMode: String, Sendable, CaseIterable {
    /// They are made when the server has none of their identifier.
    case create
    /// The Device must be there, and says whose it is; an encounter that a reading names must be there too.
    case lookup
    /// As ``lookup``, and every reading must name its encounter.
    case lookupWithEncounter

    /// Reads a name without regard to case; the class names of the reference system are names too.
    package init?(name: String) {
        switch name.lowercased() {
        case "create", "r4deviceandpatientcreateidentityservice": self = .create
        case "lookup", "r4deviceandpatientlookupidentityservice": self = .lookup
        case "lookupwithencounter", "r4deviceandpatientwithencounterlookupidentityservice": self = .lookupWithEncounter
        default: return nil
        }
    }
}
