/// Resource templates that several tests use.
enum TestResources {
    static let device = """
        {"typeName":"description","resourceType":"Device","resource":{
         "udiCarrier":[{"deviceIdentifier":{"$value":"udi","required":true},"issuer":"urn:gs1"}],
         "status":"active","manufacturer":{"$value":"maker"},"serialNumber":{"$value":"serial"},
         "deviceName":[{"name":{"$value":"name","required":true},"type":"user-friendly-name"}],
         "modelNumber":{"$value":"model"},
         "type":{"coding":[{"system":"urn:iso:std:iso:11073:10101","code":{"$value":"kind","as":"code"}}]},
         "version":[{"type":{"text":"firmware"},"value":{"$value":"firmware","required":true}}]}}
        """
    static let dose = """
        {"typeName":"dose","resourceType":"MedicationAdministration","resource":{
         "status":"not-done","statusReason":[{"text":{"$value":"reason"}}],
         "category":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/medication-admin-category",
                                "code":"community"}]},
         "medicationCodeableConcept":{"text":{"$value":"drug"}},"subject":{"$reference":"patient"},
         "context":{"$reference":"encounter"},"effectiveDateTime":{"$time":"end"},
         "performer":[{"actor":{"$reference":"device"}}],"device":[{"$reference":"device"}],
         "dosage":{"text":"orally","dose":{"value":{"$value":"tablets","as":"decimal"},"unit":"tablet"}}}}
        """
    static let alarm = """
        {"typeName":"alarm","resourceType":"Flag","resource":{
         "status":{"$value":"state","as":"code"},"category":[{"text":"device"}],
         "code":{"text":{"$text":["Alarm ",{"$value":"code"},": ",{"$value":"words"}]}},
         "subject":{"$reference":"patient"},
         "period":{"start":{"$time":"start"},"end":{"$value":"until","as":"dateTime"}}}}
        """
    static let message = """
        {"typeName":"message","resourceType":"Communication","resource":{
         "status":"completed","encounter":{"$reference":"encounter"},"priority":"urgent",
         "reasonCode":[{"text":"alarm"}],"about":[{"$reference":"device"}],"topic":{"text":"battery"},
         "payload":[{"contentString":{"$value":"words"}}]}}
        """
    /// Of a type that has no table.
    static let task = """
        {"typeName":"task","resourceType":"Task","resource":{"status":"requested","intent":"order",
         "isActive":{"$value":"on","as":"boolean"},"count":{"$value":"n","as":"integer"},
         "at":{"$value":"at","as":"time"},"where":{"$value":"uri","as":"uri"},"for":{"$identifier":"patient"},
         "owner":{"$identifier":"device"},"in":{"$identifier":"encounter"},"came":{"$time":"received"}}}
        """
}
