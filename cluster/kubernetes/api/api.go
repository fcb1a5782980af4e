// Package api has the fields of Kubernetes' Jobs and pods that we write and read, for encoding/json. Kubernetes' own packages have all fields, but
// they and their dependencies take as long to compile as a seventh of tilecheck. Only tests import them, to read what we write.
//
// Source: kubernetes.io/docs/reference/kubernetes-api, batch/v1 Job and v1 Pod.
package api

import "time"

// Meta is the metadata of an object.
type Meta struct {
	Name              string            `json:"name,omitzero"`
	Namespace         string            `json:"namespace,omitzero"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	CreationTimestamp time.Time         `json:"creationTimestamp,omitzero"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp,omitzero"`
}

// JobList is a list of Jobs, as kubectl prints it.
type JobList struct {
	Items []Job `json:"items"`
}

// Job is a batch job: it creates pods until a number of them have succeeded.
type Job struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   Meta      `json:"metadata"`
	Spec       JobSpec   `json:"spec"`
	Status     JobStatus `json:"status,omitzero"`
}

// JobSpec is the specification of a Job.
type JobSpec struct {
	CompletionMode          string            `json:"completionMode"`
	Completions             int               `json:"completions"`
	Parallelism             int               `json:"parallelism"`
	BackoffLimitPerIndex    *int              `json:"backoffLimitPerIndex,omitzero"`
	PodFailurePolicy        *PodFailurePolicy `json:"podFailurePolicy,omitzero"`
	TTLSecondsAfterFinished int               `json:"ttlSecondsAfterFinished"`
	Template                PodTemplate       `json:"template"`
}

// PodFailurePolicy decides whether Kubernetes runs the index of a failed pod again. The first matching rule applies.
type PodFailurePolicy struct {
	Rules []PodFailureRule `json:"rules"`
}

// PodFailureRule is an action with its condition, which is about either the exit codes or the conditions of the pod.
type PodFailureRule struct {
	Action          string         `json:"action"`
	OnExitCodes     *ExitCodes     `json:"onExitCodes,omitzero"`
	OnPodConditions []PodCondition `json:"onPodConditions,omitempty"`
}

// ExitCodes are the exit codes of a container.
type ExitCodes struct {
	ContainerName string `json:"containerName"`
	Operator      string `json:"operator"`
	Values        []int  `json:"values"`
}

// PodTemplate is the template of the pods of a Job.
type PodTemplate struct {
	Metadata Meta    `json:"metadata"`
	Spec     PodSpec `json:"spec"`
}

// JobStatus is the state of a Job. Indexes are lists such as 1,3-5.
type JobStatus struct {
	Conditions       []JobCondition `json:"conditions"`
	CompletedIndexes string         `json:"completedIndexes"`
	FailedIndexes    string         `json:"failedIndexes"`
}

// IsZero reports whether the status is empty. encoding/json then omits it.
func (s JobStatus) IsZero() bool {
	return len(s.Conditions) == 0 && s.CompletedIndexes == "" && s.FailedIndexes == ""
}

// The types of a Job's conditions.
const (
	JobComplete  = "Complete"
	JobFailed    = "Failed"
	JobSuspended = "Suspended"
)

// JobCondition holds if its status is True.
type JobCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

// The statuses of a condition.
const (
	True  = "True"
	False = "False"
)

// PodList is a list of pods, as kubectl prints it.
type PodList struct {
	Items []Pod `json:"items"`
}

// Pod runs a container.
type Pod struct {
	Metadata Meta      `json:"metadata"`
	Spec     PodSpec   `json:"spec"`
	Status   PodStatus `json:"status"`
}

// PodSpec is the specification of a pod.
type PodSpec struct {
	NodeName                      string             `json:"nodeName,omitzero"`
	RestartPolicy                 string             `json:"restartPolicy"`
	TerminationGracePeriodSeconds int                `json:"terminationGracePeriodSeconds"`
	ActiveDeadlineSeconds         int64              `json:"activeDeadlineSeconds,omitzero"`
	AutomountServiceAccountToken  bool               `json:"automountServiceAccountToken"`
	EnableServiceLinks            bool               `json:"enableServiceLinks"`
	PriorityClassName             string             `json:"priorityClassName,omitzero"`
	ImagePullSecrets              []Reference        `json:"imagePullSecrets,omitempty"`
	NodeSelector                  map[string]string  `json:"nodeSelector,omitempty"`
	Tolerations                   []Toleration       `json:"tolerations,omitempty"`
	SecurityContext               PodSecurityContext `json:"securityContext"`
	Containers                    []Container        `json:"containers"`
	Volumes                       []Volume           `json:"volumes"`
}

// Reference names an object.
type Reference struct {
	Name string `json:"name"`
}

// Toleration lets a pod run on nodes that have a taint.
type Toleration struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
	Value    string `json:"value,omitzero"`
	Effect   string `json:"effect,omitzero"`
}

// PodSecurityContext has the user and group of the processes of a pod.
type PodSecurityContext struct {
	RunAsNonRoot   bool           `json:"runAsNonRoot"`
	RunAsUser      int64          `json:"runAsUser"`
	RunAsGroup     int64          `json:"runAsGroup"`
	SeccompProfile SeccompProfile `json:"seccompProfile"`
}

// SeccompProfile restricts the system calls of a pod.
type SeccompProfile struct {
	Type string `json:"type"`
}

// Container is a command in an image.
type Container struct {
	Name                     string          `json:"name"`
	Image                    string          `json:"image"`
	Command                  []string        `json:"command"`
	Env                      []Variable      `json:"env"`
	Resources                Resources       `json:"resources"`
	VolumeMounts             []Mount         `json:"volumeMounts"`
	TerminationMessagePolicy string          `json:"terminationMessagePolicy"`
	SecurityContext          SecurityContext `json:"securityContext"`
}

// Variable is an environment variable. It has either a value or the source of its value.
type Variable struct {
	Name      string       `json:"name"`
	Value     string       `json:"value,omitzero"`
	ValueFrom *ValueSource `json:"valueFrom,omitzero"`
}

// ValueSource is a field of the pod that gives a variable its value.
type ValueSource struct {
	FieldRef struct {
		FieldPath string `json:"fieldPath"`
	} `json:"fieldRef"`
}

// Resources are the amounts that a container requests, and the limits of its use.
type Resources struct {
	Requests Amounts `json:"requests"`
	Limits   Amounts `json:"limits"`
}

// Amounts are amounts of resources in the notation of Kubernetes, such as 2 CPUs and 3Gi of memory.
type Amounts struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

// Mount is the path of a volume, or of a part of it, in a container.
type Mount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
	SubPath   string `json:"subPath,omitzero"`
	ReadOnly  bool   `json:"readOnly,omitzero"`
}

// SecurityContext restricts the processes of a container.
type SecurityContext struct {
	AllowPrivilegeEscalation bool         `json:"allowPrivilegeEscalation"`
	ReadOnlyRootFilesystem   bool         `json:"readOnlyRootFilesystem"`
	Capabilities             Capabilities `json:"capabilities"`
}

// Capabilities are the Linux capabilities that a container loses.
type Capabilities struct {
	Drop []string `json:"drop"`
}

// Volume is a persistent volume claim or an empty directory of the pod.
type Volume struct {
	Name                  string    `json:"name"`
	PersistentVolumeClaim *Claim    `json:"persistentVolumeClaim,omitzero"`
	EmptyDir              *struct{} `json:"emptyDir,omitzero"`
}

// Claim names a persistent volume claim.
type Claim struct {
	ClaimName string `json:"claimName"`
}

// The phases of a pod that has not ended.
const (
	PodPending = "Pending"
	PodRunning = "Running"
)

// PodStatus is the state of a pod.
type PodStatus struct {
	Phase             string            `json:"phase"`
	Reason            string            `json:"reason"`
	Message           string            `json:"message"`
	Conditions        []PodCondition    `json:"conditions"`
	ContainerStatuses []ContainerStatus `json:"containerStatuses"`
}

// The types of a pod's conditions.
const (
	PodScheduled     = "PodScheduled"
	DisruptionTarget = "DisruptionTarget"
)

// PodCondition holds if its status is True.
type PodCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitzero"`
	Message string `json:"message,omitzero"`
}

// ContainerStatus is the state of a container.
type ContainerStatus struct {
	State struct {
		Waiting    *State `json:"waiting"`
		Terminated *State `json:"terminated"`
	} `json:"state"`
}

// State is the reason why a container waits, or how it ended.
type State struct {
	ExitCode int    `json:"exitCode"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
}
